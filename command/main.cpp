// The `margay` command, also installed as mpiexec and mpirun, which are `margay run`.
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "command/call_sites.hpp"
#include "command/commands.hpp"
#include "command/lab/lab.hpp"
#include "command/run/run_command.hpp"

// The name of the program selects the command, so mpiexec and mpirun may be links.
int main(int argc, char** argv) {
  const std::vector<std::string> tokens(argv + (argc > 0 ? 1 : 0), argv + argc);
  std::string_view name = argc > 0 ? argv[0] : "margay";
  if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  margay::command::CallSites call_sites;
  // libdw would ask a debuginfod server for missing debug information. The user would wait, and so would a process that
  // `stacks` has stopped.
  const auto ask_no_server = [] { ::unsetenv("DEBUGINFOD_URLS"); };
  const auto run = [&](const std::vector<std::string>& of_run) {
    return margay::command::run_command(of_run, [&](const std::string& question) {
      // The variable is removed only now, when the ranks have inherited it.
      ask_no_server();
      return call_sites.name_of(question);
    });
  };
  if (name.substr(0, 7) == "mpiexec" || name.substr(0, 6) == "mpirun") return run(tokens);
  // `run` has a parser of its own, because most of its line belongs to the ranks' programs.
  if (!tokens.empty() && tokens[0] == "run") return run({tokens.begin() + 1, tokens.end()});
  if (!tokens.empty() && tokens[0] == "lab") return margay::command::lab_command({tokens.begin() + 1, tokens.end()});
  // A write beyond a file-size limit then fails with an error, which is reported, and does not end the process.
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  ask_no_server();
  if (!tokens.empty() && tokens[0] == "source-lines") return margay::command::answer_source_questions(call_sites);
  return margay::command::run_cli(argc, argv, call_sites);
}
