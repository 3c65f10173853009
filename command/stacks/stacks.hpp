// `margay stacks`: where each rank of a job is now.
#pragma once

#include "sim/cli/commands.hpp"

namespace margay::command {

// Prints the stacks; the exit status: 0, 1 when some could not be read, 2 when the order names no one job or process.
[[nodiscard]] int stacks(const sim::StacksOrder& order);

}  // namespace margay::command
