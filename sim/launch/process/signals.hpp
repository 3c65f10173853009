// What signals mean to the launcher: which it takes as events, which it ignores for itself.
#pragma once

#include "portals/base/status.hpp"
#include "sim/launch/process/spawn.hpp"

namespace margay::sim {

// From here on the signals that the runner acts on arrive at `descriptor` (a signalfd, non-blocking), and those that
// would end or stop the launcher over an output (SIGPIPE, SIGXFSZ, SIGTTIN, SIGTTOU) are ignored: the error says it
// instead. `saved` gets what spawn() gives back to each rank.
[[nodiscard]] portals::Status take_signals(SavedProcess& saved, int& descriptor);

}  // namespace margay::sim
