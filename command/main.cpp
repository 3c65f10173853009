// The `margay` command. Installed as mpiexec and mpirun too, which are `margay run`.
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "command/call_sites.hpp"
#include "command/commands.hpp"
#include "command/lab/lab.hpp"
#include "command/run/run_command.hpp"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  std::string_view name = argc > 0 ? argv[0] : "margay";
  if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  margay::command::CallSites call_sites;
  // Debug information is this machine's: nobody waits for a server, least of all a process that `stacks` holds.
  const auto ask_no_server = [] { ::unsetenv("DEBUGINFOD_URLS"); };
  const auto run = [&](const std::vector<std::string>& of_run) {
    return margay::command::run_command(of_run, [&](const std::string& question) {
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
  return margay::command::run_cli(argc, argv, call_sites);
}
