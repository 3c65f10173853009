// The guardian: a small process that leads the job's process group and outlives the launcher by a moment.
// When the launcher is gone, in whatever way, the guardian kills the group: also the children of ranks, which the
// operating system's parent-death signal misses.
#pragma once

#include <sys/types.h>

#include "portals/base/status.hpp"

namespace margay::command {

// The launcher's handle of the guardian.
class Guardian {
 public:
  Guardian() = default;
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  ~Guardian() { dismiss(); }

  // Forks the guardian. Requires: no other thread runs. Error: no pipe or no process.
  [[nodiscard]] portals::Status start();
  // The process group of the job.
  [[nodiscard]] pid_t group() const { return pid_; }
  // Signals every process of the group. The guardian blocks all signals but SIGKILL.
  void signal_group(int signal) const;
  // Kills the whole group and the guardian with it; the caller reaps it.
  void dismiss();

 private:
  pid_t pid_ = -1;
  // The launcher's end of a pipe. The operating system closes it when the launcher dies, which is what the guardian
  // waits for.
  int lifeline_ = -1;
};

}  // namespace margay::command
