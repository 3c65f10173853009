// The `margay` command. Installed as mpiexec and mpirun too, which are `margay run`.
//
// Lies above all layers, so that `margay info` can tell what those above sim choose.
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/select/describe.hpp"
#include "command/calibrate/calibrate.hpp"
#include "command/call_sites.hpp"
#include "command/info_collectives.hpp"
#include "command/labs.hpp"
#include "command/page/page.hpp"
#include "command/stacks/stacks.hpp"
#include "mpi_adi/rank/describe_choices.hpp"
#include "mpi_adi/rank/describe_windows.hpp"
#include "sim/cli/commands.hpp"
#include "sim/launch/run_command.hpp"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  std::string_view name = argc > 0 ? argv[0] : "margay";
  if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  margay::command::CallSites call_sites;
  // Debug information is this machine's: nobody waits for a server, least of all a process that `stacks` holds.
  const auto ask_no_server = [] { ::unsetenv("DEBUGINFOD_URLS"); };
  const auto run = [&](const std::vector<std::string>& of_run) {
    return margay::sim::run_command(of_run, [&](const std::string& question) {
      ask_no_server();  // the ranks, which have started by now, have it
      return call_sites.name_of(question);
    });
  };
  if (name.substr(0, 7) == "mpiexec" || name.substr(0, 6) == "mpirun") return run(words);
  // The remainder of a `run` line belongs to the ranks' programs as much as to margay: its own parser reads it.
  if (!words.empty() && words[0] == "run") return run({words.begin() + 1, words.end()});
  if (!words.empty() && words[0] == "lab") return margay::command::lab_command({words.begin() + 1, words.end()});
  // A look at what this machine allows fails where files may not be long, and tells so.
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  ask_no_server();
  if (!words.empty() && words[0] == "source-lines") return margay::command::answer_source_questions(call_sites);
  return margay::sim::run_cli(argc, argv,
                              {.choices = {&margay::mpi_adi::describe_choices, &margay::collectives::describe_choices},
                               .windows = &margay::mpi_adi::describe_windows,
                               .info_collectives = &margay::command::info_collectives,
                               .calibrate = &margay::command::calibrate,
                               .stacks = &margay::command::stacks,
                               .call_site = [&](const margay::sim::Definition& module,
                                                std::uint64_t address) { return call_sites.line_of(module, address); },
                               .page = margay::command::page()});
}
