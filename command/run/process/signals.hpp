// The launcher's signal handling: the signals that are events, the effect of each, and the ignored signals.
// docs/launcher.md has the table for users.
#pragma once

#include <cstdint>

#include "command/run/process/spawn.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// The effect of a signal to the launcher.
enum class SignalUse : std::uint8_t {
  child,    // a process of the job ended, stopped or continued
  end_job,  // forwarded to the ranks; the job ends
  suspend,  // stops and continues the job together with the launcher
  report,   // prints each rank's state; forwarded to ranks that handle it
  forward,  // forwarded to the ranks; the job continues
};
// Requires: `signal` is one that take_signals() takes.
[[nodiscard]] SignalUse use_of(int signal);

// Redirects the signals of the table in signals.cpp to `descriptor` (a signalfd, non-blocking). Ignores SIGPIPE,
// SIGXFSZ, SIGTTIN and SIGTTOU, by which the operating system ends or stops a process that reads or writes. When they
// are ignored, the failed system call reports the same error. `saved` receives the former mask, and whether SIGPIPE and
// SIGXFSZ were ignored; spawn() restores these in each rank. Fails if no descriptor is available.
[[nodiscard]] portals::Status take_signals(SavedProcess& saved, int& descriptor);

}  // namespace margay::command
