// `margay stacks`: where each rank of a job is now.
#pragma once

#include <cstdint>
#include <string>

namespace margay::command {

// `margay stacks`: of a job by its name or launcher, or of a process; empty: of the one job that runs.
struct StacksOrder {
  std::string job;
  std::int64_t rank = -1;  // of one rank only
  bool all = false;        // the library's frames and threads too
};

// Prints the stacks; the exit status: 0, 1 when some could not be read, 2 when the order names no one job or process.
[[nodiscard]] int stacks(const StacksOrder& order);

}  // namespace margay::command
