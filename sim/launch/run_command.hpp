// `margay run`, from the words of the command line to the exit status.
#pragma once

#include <string>
#include <vector>

namespace margay::sim {

// `words` is the line after "run" (or after mpiexec, mpirun).
[[nodiscard]] int run_command(const std::vector<std::string>& words);

}  // namespace margay::sim
