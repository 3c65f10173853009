// The guardian: a small process that leads the job's process group and outlives the launcher by a moment. When the
// launcher is gone, in whatever way, it kills the group: ranks that forked, and their children, which the kernel's
// parent-death signal misses.
#pragma once

#include <sys/types.h>

#include "portals/base/status.hpp"

namespace margay::command {

class Guardian {
 public:
  Guardian() = default;
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  ~Guardian() { dismiss(); }

  // Requires: no other thread runs.
  [[nodiscard]] portals::Status start();
  // The process group of the job.
  [[nodiscard]] pid_t group() const { return pid_; }
  // Signals every process of the group but the guardian, which heeds SIGKILL only.
  void signal_group(int signal) const;
  // Kills the whole group, the guardian with it; its status is left to be reaped.
  void dismiss();

 private:
  pid_t pid_ = -1;
  int lifeline_ = -1;  // the launcher's end: closed by its death
};

}  // namespace margay::command
