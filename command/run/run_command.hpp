// `margay run`, from the words of the command line to the exit status.
#pragma once

#include <string>
#include <vector>

#include "command/run/report/stall.hpp"

namespace margay::command {

// `words` is the line after "run" (or after mpiexec, mpirun).
// `name_place` names places in the ranks' programs; it may be empty.
[[nodiscard]] int run_command(const std::vector<std::string>& words, const NamePlace& name_place);

}  // namespace margay::command
