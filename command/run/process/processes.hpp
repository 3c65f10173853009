// Small acts on processes that the runner needs.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <vector>

#include "sim/base/process_identity.hpp"

namespace margay::command {

// Raises the soft limit on open files to the hard one; `before` gets what it was.
void raise_descriptor_limit(rlimit& before);
// The processor that a rank is bound to: the allowed ones, round robin. -1 when they cannot be told.
[[nodiscard]] int processor_for(std::uint32_t rank);
// Sends `signal` to each process that is still a child of this one.
void signal_ranks(const std::vector<int>& pids, int signal);
// The same for those that have left the job's process group: a program under `timeout` leads one of its own.
void signal_ranks_outside(int group, const std::vector<int>& pids, int signal);
// Sends `signal` to a process that has a handler for it, so that it does no harm. Not to another one that has got its
// number meanwhile, nor when it cannot be told. Returns whether it was sent.
bool signal_if_caught(const sim::ProcessIdentity& process, int signal);

// A child that ended, stopped or went on: waitid's code, and its status or the signal.
struct ChildChange {
  int pid = 0;
  int code = 0;
  int value = 0;
};
// All that have changed since the last time. Of several that ended at once, those that a signal killed come first: the
// others may have left because of them.
[[nodiscard]] std::vector<ChildChange> changed_children();

}  // namespace margay::command
