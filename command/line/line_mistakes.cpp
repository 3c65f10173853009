#include "command/line/line_mistakes.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>
#include <vector>

#include "sim/boot/parse.hpp"

namespace margay::command {

namespace {

// The innermost command that the line names, with its full name.
struct Command {
  const CLI::App* app;
  std::string name;
};

Command command_of(const CLI::App& app) {
  Command command{&app, "margay"};
  // Without a filter CLI11 returns the commands that the line has named, outermost first.
  for (std::vector<CLI::App*> parsed = app.get_subcommands(); !parsed.empty();
       parsed = command.app->get_subcommands()) {
    command.app = parsed.front();
    command.name += " " + command.app->get_name();
  }
  return command;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const std::string_view near = sim::nearest_spelling(word, {names.begin(), names.end()});
  return near.empty() ? std::string() : fmt::format("; did you mean {}?", near);
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// The error for a token that the command does not accept.
std::string unknown_token(const CLI::App& app, const std::string& word) {
  if (word.size() > 1 && word.front() == '-') {
    return fmt::format("unknown option {}{}", word, did_you_mean(word.substr(0, word.find('=')), options_of(app)));
  }
  const std::vector<std::string> commands = commands_of(app);
  if (!commands.empty()) return fmt::format("unknown command \"{}\"{}", word, did_you_mean(word, commands));
  return fmt::format("\"{}\" is one word too many", word);
}

std::string describe_parse_error(const Command& command, const CLI::App& app, const CLI::ParseError& mistake) {
  // A token that CLI11 did not use is the likeliest cause, whatever else CLI11 reports.
  const std::vector<std::string> left = app.remaining(true);
  if (!left.empty()) return unknown_token(*command.app, left.front());
  const std::string said = mistake.what();
  const std::string name = mistake.get_name();
  if (name == "RequiredError" && !commands_of(*command.app).empty()) {
    return fmt::format("missing command; use one of {}", fmt::join(commands_of(*command.app), ", "));
  }
  // CLI11's message begins with the option: "--count: ...".
  if (name == "ArgumentMismatch") {
    const std::string option = said.substr(0, said.find(": "));
    return said.ends_with(" missing") ? option + " lacks its value" : option + " may be given once";
  }
  // CLI11 names the long form ("--ranks: ..."), although the line may have -n.
  if (name == "ValidationError") {
    const CLI::Option* const option = command.app->get_option_no_throw(said.substr(0, said.find(": ")));
    if (option != nullptr && !option->get_snames().empty()) {
      return fmt::format("-{}, {}", option->get_snames().front(), said);
    }
  }
  if (name == "ExcludesError") return said + ": leave one of them out";
  return said;
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto problem = [least, most](const std::string& word) {
    std::uint64_t value = 0;
    if (sim::parse_number(std::string_view(word), value) && value >= least && value <= most) return std::string();
    const std::string range = most == std::numeric_limits<std::uint64_t>::max()
                                  ? fmt::format("of at least {}", least)
                                  : fmt::format("from {} to {}", least, most);
    return fmt::format("\"{}\" is not a whole number {}", word, range);
  };
  return CLI::Validator(problem, "");
}

CLI::Validator microseconds() {
  const auto problem = [](const std::string& word) {
    double value = 0;
    // The whole token must be a number.
    const auto [behind, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc() && behind == word.data() + word.size() && std::isfinite(value) && value >= 0) {
      return std::string();
    }
    return fmt::format("\"{}\" is not a number of microseconds of at least 0, as in 12.5", word);
  };
  return CLI::Validator(problem, "");
}

std::string describe_mistake(const CLI::App& app, const CLI::ParseError& mistake) {
  const Command command = command_of(app);
  return fmt::format("{}: {} (`{} --help`)", command.name, describe_parse_error(command, app, mistake), command.name);
}

}  // namespace margay::command
