// Signal handling of the launcher: which it takes as events and what it does then, which it ignores for itself.
// docs/launcher.md has the same as a table for users.
#pragma once

#include <cstdint>

#include "command/run/process/spawn.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

enum class SignalUse : std::uint8_t {
  child,    // a process of the job has changed
  end_job,  // the ranks get it, and end
  suspend,  // the job sleeps and wakes with the launcher
  report,   // where each rank is; ranks that handle it get it
  forward,  // the ranks get it, the job goes on
};
// Requires: `signal` is one that take_signals() takes.
[[nodiscard]] SignalUse use_of(int signal);

// From here on the signals that the runner acts on arrive at `descriptor` (a signalfd, non-blocking), and those that
// would end or stop the launcher over an output (SIGPIPE, SIGXFSZ, SIGTTIN, SIGTTOU) are ignored: the error says it
// instead. `saved` gets what spawn() gives back to each rank.
[[nodiscard]] portals::Status take_signals(SavedProcess& saved, int& descriptor);

}  // namespace margay::command
