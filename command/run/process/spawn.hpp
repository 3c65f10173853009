// Starting one rank: a fast child (shared memory until exec, no copy of the launcher), in the job's process group, that
// dies with the launcher whatever happens to it.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/base/process_identity.hpp"

namespace margay::command {

// What every child must get back as the launcher found it.
struct SavedProcess {
  sigset_t signal_mask{};
  bool sigpipe_ignored = false;
  bool sigxfsz_ignored = false;
  rlimit descriptors{};
};

struct SpawnRequest {
  std::string path;  // absolute or relative to working_directory's parent process; already found executable
  std::vector<std::string> argv;         // not empty
  std::vector<std::string> environment;  // NAME=VALUE
  std::string working_directory;         // empty: stay
  int standard_input = -1;               // become 0, 1 and 2 of the child
  int standard_output = -1;
  int standard_error = -1;
  std::vector<int> inherited;  // these stay open over exec under their numbers
  pid_t process_group = 0;
  int processor = -1;  // bind to it; -1: no binding
};

// Error: the sentence names the program and what the kernel said; `exit_status` is 126 or 127 if it is the program that
// cannot be run. On success the child has already become the program.
// Single-threaded callers only: the child dies when the thread that made it ends.
[[nodiscard]] portals::Status spawn(const SpawnRequest& request, const SavedProcess& saved, pid_t& pid,
                                    int& exit_status);

// Small acts on processes that the runner needs.

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
