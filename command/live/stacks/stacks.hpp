// The command `margay stacks`: shows each rank's current stack.
#pragma once

#include <cstdint>
#include <string>

namespace margay::command {

// The options. `job`: a job's name, or the process number of a launcher or of any other process; empty: the only
// running job.
struct StacksOrder {
  std::string job;
  // Only this rank; -1: all.
  std::int64_t rank = -1;
  // Also the library's frames and threads.
  bool all = false;
};

// Prints the stacks. Returns the exit status: 0; 1 if some could not be read; 2 if the options do not name a single job
// or process with stacks, or a rank of the job.
[[nodiscard]] int stacks(const StacksOrder& order);

}  // namespace margay::command
