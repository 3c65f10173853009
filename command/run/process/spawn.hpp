// The start of one rank: a child that joins the job's process group and dies with the launcher. It shares the
// launcher's memory until exec, so the cost of a start does not depend on the launcher's size.
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

// The launcher's state before take_signals() and raise_descriptor_limit(), restored in every child.
struct SavedProcess {
  sigset_t signal_mask{};
  bool sigpipe_ignored = false;
  bool sigxfsz_ignored = false;
  rlimit descriptors{};
};

// The start's parameters. Descriptors remain the caller's.
struct SpawnRequest {
  // Absolute, or relative to working_directory, because the child changes its directory before the exec. The caller has
  // found the file to be executable.
  std::string path;
  // Not empty.
  std::vector<std::string> argv;
  // NAME=VALUE.
  std::vector<std::string> environment;
  // Empty: the launcher's.
  std::string working_directory;
  // Become descriptors 0, 1 and 2 of the child.
  int standard_input = -1;
  int standard_output = -1;
  int standard_error = -1;
  // These stay open over exec, with the same numbers.
  std::vector<int> inherited;
  pid_t process_group = 0;
  // The processors to bind to; empty: none.
  std::vector<int> processors;
};

// Starts the child; on success the child's exec has already succeeded. Error: names the program and the system's error;
// `exit_status` is 126 or 127 if the program itself cannot be run. Requires: the calling thread outlives the child,
// because the parent-death signal follows the thread. Blocks until the exec.
[[nodiscard]] portals::Status spawn(const SpawnRequest& request, const SavedProcess& saved, pid_t& pid,
                                    int& exit_status);

// Further operations on processes for the runner.

// Raises the soft limit on open files to the hard one, since each rank needs three descriptors; `before` receives the
// former limits.
void raise_descriptor_limit(rlimit& before);
// The processor for a rank, round robin over the allowed ones; -1: they cannot be determined.
[[nodiscard]] int processor_for(std::uint32_t rank);
// Sends `signal` once to each process of the ranks that is still an unreaped child, so the number cannot belong to
// another process.
void signal_ranks(const std::vector<int>& pids, int signal);
// The same, but only for ranks that left the job's process group, such as a program under `timeout`, which leads a
// group of its own.
void signal_ranks_outside(int group, const std::vector<int>& pids, int signal);
// Sends `signal` to a process if the process has a handler for it; without a handler the signal could end the process.
// Sends nothing if the process has ended, even if another now has its number, or if /proc cannot be read. Returns
// whether it was sent.
bool signal_if_caught(const sim::ProcessIdentity& process, int signal);

// A child that ended, stopped or continued: waitid's code, and its exit status or signal.
struct ChildChange {
  int pid = 0;
  int code = 0;
  int value = 0;
};
// All changes since the last call. Children that exited come last, because they may have exited as a consequence of
// another child's death by a signal.
[[nodiscard]] std::vector<ChildChange> changed_children();

}  // namespace margay::command
