// The guardian: a small process that leads the job's process group and outlives the launcher by a moment.
// When the launcher has ended, for whatever reason, the guardian kills the group. The group includes the children of
// ranks, which the operating system's parent-death signal misses.
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
  // Kills the whole group, the guardian included; the caller reaps the guardian.
  void dismiss();

 private:
  pid_t pid_ = -1;
  // The launcher's end of a pipe. The guardian waits for this end to close: the operating system closes it when the
  // launcher dies.
  int lifeline_ = -1;
};

}  // namespace margay::command
