#include "command/commands.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "collectives/select/describe.hpp"
#include "command/calibrate/calibrate.hpp"
#include "command/info/findings.hpp"
#include "command/info/info.hpp"
#include "command/line/line_mistakes.hpp"
#include "command/line/standard_output.hpp"
#include "command/live/screen.hpp"
#include "command/live/stacks/stacks.hpp"
#include "command/machines/machines.hpp"
#include "command/run/options/option_rules.hpp"
#include "command/run/options/run_options.hpp"
#include "command/run/process/rank_environment.hpp"
#include "command/run/program/symbol_check.hpp"
#include "command/simulate/simulate_command.hpp"
#include "command/trace/page/viewer_html.hpp"
#include "command/trace/trace_command.hpp"
#include "mpi_adi/rank/describe_choices.hpp"
#include "sim/base/text.hpp"
#include "sim/boot/board.hpp"

namespace margay::command {
namespace {

constexpr int kStatusNotWritten = 1;

void print(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::printf("%s\n", sim::for_terminal(line).c_str());
}

// Prints a message of `margay check`. Names of files and symbols are not trusted, so control characters are replaced.
void print_check(const std::string& sentence) {
  std::fprintf(stderr, "margay check: %s\n", sim::for_terminal(sentence).c_str());
}

// The calibration is last, because it takes a moment.
void print_protocols(unsigned ranks) {
  print(mpi_adi::describe_choices(ranks, is_crowded(ranks)));
  print(collectives::describe_choices(ranks, is_crowded(ranks)));
  print(describe_thresholds());
  print(describe_calibration(calibrate_long_bodies()));
}

// Ends the parse with the status of a command that has printed its error itself.
void end_with(int status) {
  if (status != 0) throw CLI::RuntimeError(status);
}

// Options live in shared pointers, because the callbacks run after this function has returned.
void add_info_command(CLI::App& app) {
  CLI::App* info = app.add_subcommand("info", "print what margay chooses on this machine, and why");
  const auto protocols = std::make_shared<bool>(false);
  const auto collectives = std::make_shared<bool>(false);
  const auto group = std::make_shared<CollectivesQuestion>();
  CLI::Option* const of_protocols = info->add_flag(
      "--protocols", *protocols, "protocols by size, thresholds with their reasons, transfer times measured now");
  CLI::Option* const of_collectives =
      info->add_flag("--collectives", *collectives,
                     "cost and algorithm of each collective by length; the first use measures this machine");
  of_collectives->excludes(of_protocols);
  info->add_option("-n,--ranks", group->ranks, "for a job of this many ranks")->check(whole_number(1, sim::kRanksMax));
  info->add_option("--nodes", group->nodes, "for a job on this many nodes")
      ->check(whole_number(1, sim::kRanksMax))
      ->needs(of_collectives);
  info->add_option("--rates", group->rates,
                   "use these rates, as `margay run --rates` takes them: usual, paragon, a file, a text")
      ->needs(of_collectives);
  info->add_option("--plot", group->plot, "plot cost against length into this file (SVG); -: standard output")
      ->needs(of_collectives);
  info->callback([protocols, collectives, group] {
    if (*collectives) {
      end_with(info_collectives(*group));
    } else if (*protocols) {
      print_protocols(group->ranks);
    } else {
      print(describe_choices(group->ranks));
      print(describe_polling());
      print(mpi_adi::describe_windows());
    }
  });
}

void add_calibrate_command(CLI::App& app) {
  CLI::App* calibrate = app.add_subcommand(
      "calibrate", "measure for some seconds what collectives cost on this machine, and store the rates");
  const auto order = std::make_shared<CalibrateOrder>();
  CLI::Option* const write = calibrate->add_option(
      "--write", order->file, "store the rates in this file (default: the file of this machine in ~/.cache/margay)");
  CLI::Option* const installed =
      calibrate->add_flag("--installed", order->installed, "store the rates beside this command, for all its users");
  CLI::Option* const printed =
      calibrate->add_flag("--print", order->print, "print the rates in the form that --rates takes; store nothing");
  write->excludes(installed)->excludes(printed);
  installed->excludes(printed);
  calibrate->callback([order] { end_with(command::calibrate(*order)); });
}

void add_stacks_command(CLI::App& app) {
  CLI::App* stacks =
      app.add_subcommand("stacks", "print the stack of each rank of a job, equal stacks merged (docs/live.md)");
  const auto order = std::make_shared<StacksOrder>();
  stacks->add_option(
      "job", order->job,
      "a job's name, or the number of its launcher or of any process (default: the only job of this user)");
  stacks->add_option("--rank", order->rank, "only this rank")->check(whole_number(0, sim::kRanksMax - 1));
  stacks->add_flag("--all", order->all, "also the frames and threads of the library, one frame on each line");
  stacks->callback([order] { end_with(command::stacks(*order)); });
}

// Warnings do not change the exit status.
void run_doctor() {
  constexpr const char* kWords[] = {"ok  ", "warn", "FAIL"};
  bool failed = false;
  for (const Diagnosis& diagnosis : diagnose()) {
    std::printf("%s  %s\n", kWords[static_cast<int>(diagnosis.finding)], diagnosis.what.c_str());
    if (!diagnosis.mend.empty()) std::printf("      %s\n", diagnosis.mend.c_str());
    failed = failed || diagnosis.finding == Finding::fail;
  }
  if (failed) throw CLI::RuntimeError(1);
}

// Exit statuses of `margay check`; for several programs the highest one counts.
constexpr int kStatusNotRight = 1;
constexpr int kStatusNotChecked = 2;

std::string check_folder(const std::string& asked) {
  std::string folder = asked.empty() ? find_library_folder() : asked;
  if (folder.empty()) {
    print_check("libmpi.so.12 is not beside this command; name its folder with --library");
  } else if (::access((folder + "/libmpi.so.12").c_str(), R_OK) != 0) {
    print_check("--library " + folder + ": cannot read libmpi.so.12 there");
  } else {
    return folder;
  }
  throw CLI::RuntimeError(kStatusNotChecked);
}

// Prints the names, one on each line, and then the sentence `what` about them. Returns whether there were any.
bool print_needs(const std::vector<Need>& needs, const std::string& what) {
  for (const Need& need : needs) print({describe_need(need)});
  if (!needs.empty()) print({what});
  return !needs.empty();
}

// Uses the environment's LD_LIBRARY_PATH behind margay's folder, as the launcher does.
int check_program(const std::string& program, const std::string& folder) {
  const char* const path = std::getenv("LD_LIBRARY_PATH");
  SymbolCheck check;
  const Status status =
      check_symbols(program, folder, folder + (path == nullptr ? "" : std::string(":") + path), check);
  if (!status.ok()) {
    print_check(status.sentence());
    return kStatusNotChecked;
  }
  const std::string of_the_needed = " of the " + std::to_string(check.needed) + " MPI symbols it needs";
  bool found = print_needs(check.other_mpi, program +
                                                " was linked with another MPI, which has another binary interface: "
                                                "compile it with margay's mpicc");
  found |= print_needs(check.not_found,
                       program + ": the loader does not find the librar" + (check.not_found.size() == 1 ? "y" : "ies"));
  found |=
      print_needs(check.missing, program + ": margay lacks " + std::to_string(check.missing.size()) + of_the_needed);
  found |= print_needs(check.refusing,
                       program + ": margay has " + std::to_string(check.refusing.size()) + of_the_needed +
                           " by name only; a call of one fails with MPI_ERR_UNSUPPORTED_OPERATION or ends the job");
  if (found) return kStatusNotRight;
  print(
      {program + ": " + (check.uses_mpi ? "margay has all" + of_the_needed : "it does not use a shared MPI library")});
  return 0;
}

void add_check_command(CLI::App& app) {
  CLI::App* check =
      app.add_subcommand("check", "list the MPI symbols that programs and their libraries need and margay lacks");
  const auto programs = std::make_shared<std::vector<std::string>>();
  const auto folder = std::make_shared<std::string>();
  check->add_option("program", *programs, "executables, or shared libraries")->required();
  check->add_option("--library", *folder, "folder with libmpi.so.12");
  check->callback([programs, folder] {
    const std::string library_folder = check_folder(*folder);
    int worst = 0;
    for (const std::string& program : *programs) worst = std::max(worst, check_program(program, library_folder));
    if (worst != 0) throw CLI::RuntimeError(worst);
  });
}

void add_explain_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("explain", "print the meaning of a finding, an example and the cure (docs/findings.md)");
  const auto id = std::make_shared<std::string>();
  command->add_option("id", *id,
                      "the id at the end of a message, [deadlock], without brackets (default: list all ids)");
  command->callback([id] {
    std::string text;
    if (explain_finding(*id, text)) {
      std::fputs(text.c_str(), stdout);
      return;
    }
    std::fprintf(stderr, "margay explain: %s\n", sim::for_terminal(text).c_str());
    throw CLI::RuntimeError(kStatusBadCommandLine);
  });
}

// Used for the error about standard output, which names known commands only, not arbitrary tokens.
bool is_command(CLI::App& app, const std::string& word) {
  const std::vector<CLI::App*> commands = app.get_subcommands({});
  return std::any_of(commands.begin(), commands.end(),
                     [&](const CLI::App* known) { return known->get_name() == word; });
}

// Parses the line, which runs its command. Returns the exit status.
int parse_line(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& failure) {
    return app.exit(failure);
    // --help, --version.
  } catch (const CLI::Success& wish) {
    return app.exit(wish);
  } catch (const CLI::ParseError& mistake) {
    std::fprintf(stderr, "%s\n", sim::for_terminal(describe_mistake(app, mistake)).c_str());
    return kStatusBadCommandLine;
  }
  return 0;
}

// `run` and `lab` are listed for the help only: main() handles them before CLI11 sees the line.
void add_commands(CLI::App& app, const CallSite& call_site) {
  app.require_subcommand(1);
  app.set_version_flag("--version", "margay 0.1.0");
  app.add_subcommand("run", "start an MPI job: margay run --help");
  add_info_command(app);
  app.add_subcommand("lab", "labs that check themselves by the trace of a run: margay lab --help");
  app.add_subcommand("doctor", "check this machine, and print the cure for each problem")->callback(run_doctor);
  add_check_command(app);
  add_explain_command(app);
  add_calibrate_command(app);
  add_machines_command(app);
  add_simulate_command(app, call_site);
  add_top_command(app);
  add_stacks_command(app);
  add_trace_command(app, call_site, page());
  // The footer is set after the commands are added, because they would otherwise inherit it.
  app.footer(
      "A job that runs: SIGUSR1 to its launcher prints where each rank is and which rank it waits for; the launcher\n"
      "reports a deadlock by itself (margay run --deadlock abort ends the job). A trace: margay run\n"
      "--trace DIR, with --trace-walks every match entry that was passed over; then margay trace story DIR.");
}

// Appends a section with the help of each command below `app`.
void describe_commands(const CLI::App& app, const std::string& path, const std::string& mark, std::string& text) {
  for (const CLI::App* const command : app.get_subcommands(nullptr)) {
    const std::string name = path + " " + command->get_name();
    // These two parse their own options.
    if (command->get_name() == "run" || command->get_name() == "lab") continue;
    text += "\n" + mark + " " + name + "\n\n```text\n" + command->help(path) + "```\n";
    describe_commands(*command, name, mark + "#", text);
  }
}

}  // namespace

std::string options_document() {
  CLI::App app;
  const CallSite call_site;
  add_commands(app, call_site);
  std::string text =
      "# Options of every command\n\n"
      "This page is made from the tables that the program parses and prints (HACKING.md has the command). `margay lab\n"
      "--help` lists the options of the labs; [tool_interface.md](tool_interface.md) has the variables that a program\n"
      "reads and writes at run time through `MPI_T`.\n\n"
      "## margay run\n\n```text\n" +
      run_help() + "```\n\n### Spellings and environment variables\n\n" + describe_option_rules();
  describe_commands(app, "margay", "##", text);
  return text;
}

int run_cli(int argc, char** argv, CallSites& call_sites) {
  take_standard_descriptors();
  CLI::App app("margay: an MPI on emulated Puma portals");
  const CallSite call_site = [&](const sim::Definition& module, std::uint64_t address) {
    return call_sites.line_of(module, address);
  };
  add_commands(app, call_site);
  // Output is checked last, when all of it has been printed; a command's own failure takes precedence.
  const int status = parse_line(app, argc, argv);
  if (is_output_written(argc > 1 && is_command(app, argv[1]) ? argv[1] : "")) return status;
  return status == 0 ? kStatusNotWritten : status;
}

}  // namespace margay::command
