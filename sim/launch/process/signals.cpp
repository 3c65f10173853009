#include "sim/launch/process/signals.hpp"

#include <sys/signalfd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace margay::sim {
namespace {

using portals::Status;

// True if it was ignored before.
bool ignore(int signal) {
  struct sigaction old {};
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  return ::sigaction(signal, &ignored, &old) == 0 && old.sa_handler == SIG_IGN;
}

}  // namespace

Status take_signals(SavedProcess& saved, int& descriptor) {
  saved.sigpipe_ignored = ignore(SIGPIPE);
  saved.sigxfsz_ignored = ignore(SIGXFSZ);
  static_cast<void>(ignore(SIGTTIN));
  static_cast<void>(ignore(SIGTTOU));
  // Ignored by whoever started us, it would hide the ranks' ends.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  static_cast<void>(::sigaction(SIGCHLD, &standard, nullptr));
  sigset_t mask;
  sigemptyset(&mask);
  for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGTSTP}) sigaddset(&mask, signal);
  // nohup margay run ...
  struct sigaction old {};
  static_cast<void>(::sigaction(SIGHUP, nullptr, &old));
  if (old.sa_handler != SIG_IGN) sigaddset(&mask, SIGHUP);
  static_cast<void>(::sigprocmask(SIG_BLOCK, &mask, &saved.signal_mask));
  descriptor = ::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) return Status::error(std::string("signalfd: ") + std::strerror(errno));
  return {};
}

}  // namespace margay::sim
