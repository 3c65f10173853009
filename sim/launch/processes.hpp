// Small acts on processes that the runner needs.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <vector>

namespace margay::sim {

// Raises the soft limit on open files to the hard one; `before` gets what it was.
void raise_descriptor_limit(rlimit& before);
// The processor that a rank is bound to: the allowed ones, round robin. -1 when they cannot be told.
[[nodiscard]] int processor_for(std::uint32_t rank);
// Sends `signal` to each process that is still a child of this one.
void signal_ranks(const std::vector<int>& pids, int signal);
// Whether a process has a handler for `signal`, so that sending it does no harm. False when it cannot be told.
[[nodiscard]] bool catches_signal(int pid, int signal);

}  // namespace margay::sim
