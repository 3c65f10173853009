// The launcher's signal handling: which signals are events, what each does, and which are ignored. docs/launcher.md has
// the table for users.
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

// Redirects the signals that the runner acts on to `descriptor` (a signalfd, non-blocking), and ignores those by which
// the operating system would end or stop the launcher for writing or reading (SIGPIPE, SIGXFSZ, SIGTTIN, SIGTTOU): the
// system call's error reports the same. `saved` receives the former state, which spawn() restores in each rank.
[[nodiscard]] portals::Status take_signals(SavedProcess& saved, int& descriptor);

}  // namespace margay::command
