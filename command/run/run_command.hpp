// The command `margay run`: from the tokens of its command line to the exit status.
#pragma once

#include <string>
#include <vector>

#include "command/run/report/stall.hpp"

namespace margay::command {

// Runs one job and returns the exit status (`margay run --help` lists them). `tokens`: those after "run" (or after
// mpiexec, mpirun). `name_location`: resolves addresses in the ranks' programs to lines of source; may be empty. Prints
// all errors itself. Requires: a process of one thread.
[[nodiscard]] int run_command(const std::vector<std::string>& tokens, const NameLocation& name_location);

}  // namespace margay::command
