// Starting one rank: a fast child (shared memory until exec, no copy of the launcher), in the job's process group, that
// dies with the launcher whatever happens to it.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "portals/base/status.hpp"

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

}  // namespace margay::command
