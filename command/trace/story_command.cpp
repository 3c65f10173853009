#include "command/trace/trace_command.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "command/trace/common.hpp"
#include "command/trace/message_choice.hpp"
#include "command/trace/read/filter.hpp"
#include "command/trace/story/collectives.hpp"
#include "command/trace/story/format.hpp"
#include "sim/base/text.hpp"

namespace margay::command {

namespace {

using portals::Status;

// The most titles of further messages, listed after the printed stories.
constexpr std::size_t kTitlesMax = 20;

// The options, which live as long as the callback.
struct StoryOptions {
  std::string folder;
  std::string message;
  MessageChoice choice;
};

MessageStory named(const StoryOptions& options, const Messages& messages) {
  MessageIdentity message;
  if (Status status = parse_message(options.message, message); !status.ok()) {
    fail_trace(Status::error("trace: " + status.sentence()));
  }
  // The user may name any hop, for example an acknowledgment seen in `print`.
  const MessageIdentity root = messages.root_of(message);
  if (root != message) {
    put_line(fmt::format("({} is a part of {}:{}:{}, whose story this is)", options.message, root.source,
                         root.destination, sim::number_text(root.sequence)));
  }
  return messages.story(root);
}

// Prints one story by default, and lists the others by title, so that the user can choose.
void print_story(const StoryOptions& options, const CallSite& call_site) {
  Trace trace;
  load_trace(options.folder, trace);
  warn_unsealed(trace);
  check_choice(options.choice, trace);
  const TraceNames names(trace, wire_text);
  const Messages messages(trace);
  const Collectives collectives(trace, names);
  const EventText event_text(trace, names, call_site, &collectives);
  std::vector<MessageStory> chosen;
  if (options.message.empty()) {
    chosen = choose(options.choice, trace, names, messages);
  } else {
    chosen.push_back(named(options, messages));
    if (chosen.front().steps.empty()) {
      fail_trace(Status::error(
          fmt::format("trace: {}: unknown message; {} has no event of it", options.message, options.folder)));
    }
  }
  // An error and not an empty output: scripts test the status.
  if (chosen.empty()) {
    fail_trace(
        Status::error(fmt::format("trace: {}: {} (`margay trace print {}` shows all events)", options.folder,
                                  none_chosen(options.choice, trace, names, messages, collectives), options.folder)));
  }
  const std::size_t written = std::min(options.choice.count.value_or(1), chosen.size());
  for (std::size_t i = 0; i < written; ++i) {
    std::string text = format_story(trace, messages, event_text, chosen[i]);
    // put_line() adds the newline.
    text.pop_back();
    put_line((i == 0 ? "" : "\n") + text);
  }
  if (written != chosen.size()) {
    put_line(fmt::format("\n{}; --count {} prints {}:",
                         sim::counted(chosen.size() - written, "more message matches", "more messages match"),
                         chosen.size(), sim::noun(chosen.size() - written, "it, too", "them all")));
  }
  for (std::size_t i = written; i < std::min(chosen.size(), written + kTitlesMax); ++i) {
    put_line(
        fmt::format("{:>12}  {}", duration_text(duration_ns(trace, chosen[i])), title(trace, event_text, chosen[i])));
  }
  finish_output();
}

}  // namespace

void add_trace_story(CLI::App& trace, const CallSite& call_site) {
  auto options = std::make_shared<StoryOptions>();
  CLI::App* story = trace.add_subcommand(
      "story",
      "print the story of a message, from the call that sent it to the end (with source lines if built with -g)");
  story->add_option("folder", options->folder, "the folder of --trace")->required();
  CLI::Option* const message = story->add_option(
      "message", options->message,
      "SOURCE:DESTINATION:SEQUENCE, or as printed, '0>1 #17' (default: the first that the options select)");
  // A message that is given by its number leaves nothing to choose.
  for (CLI::Option* const option : add_message_choice(*story, options->choice)) message->excludes(option);
  story->callback([options, call_site] { print_story(*options, call_site); });
}

}  // namespace margay::command
