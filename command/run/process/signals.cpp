#include "command/run/process/signals.hpp"

#include <sys/signalfd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>

namespace margay::command {
namespace {

using portals::Status;

struct SignalRule {
  int signal;
  SignalUse use;
};

// SIGCHLD, SIGTSTP, and all signals whose default action would end the launcher, except those of its own faults
// (SIGSEGV, SIGABRT, ...) and of its writes (below). Real-time signals are forwarded, too.
constexpr SignalRule kSignalRules[] = {
    {SIGCHLD, SignalUse::child},     {SIGINT, SignalUse::end_job},  {SIGTERM, SignalUse::end_job},
    {SIGHUP, SignalUse::end_job},    {SIGQUIT, SignalUse::end_job}, {SIGTSTP, SignalUse::suspend},
    {SIGUSR1, SignalUse::report},    {SIGUSR2, SignalUse::forward}, {SIGALRM, SignalUse::forward},
    {SIGVTALRM, SignalUse::forward}, {SIGPROF, SignalUse::forward}, {SIGXCPU, SignalUse::forward},
    {SIGPWR, SignalUse::forward},    {SIGIO, SignalUse::forward},   {SIGTRAP, SignalUse::forward},
    {SIGSTKFLT, SignalUse::forward},
};

// Ignores a signal; returns whether it was ignored before.
bool ignore(int signal) {
  struct sigaction old {};
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  return ::sigaction(signal, &ignored, &old) == 0 && old.sa_handler == SIG_IGN;
}

// Restores the default action, because ranks inherit ignored signals. A script starts its background jobs with SIGINT
// and SIGQUIT ignored, so without this step its ranks would not end.
void set_default(int signal) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  static_cast<void>(::sigaction(signal, &standard, nullptr));
}

}  // namespace

SignalUse use_of(int signal) {
  const auto* const rule = std::find_if(std::begin(kSignalRules), std::end(kSignalRules),
                                        [signal](const SignalRule& one) { return one.signal == signal; });
  return rule == std::end(kSignalRules) ? SignalUse::forward : rule->use;
}

// Blocked signals are read from a descriptor, so the launcher has no handlers and no races with them.
Status take_signals(SavedProcess& saved, int& descriptor) {
  saved.sigpipe_ignored = ignore(SIGPIPE);
  saved.sigxfsz_ignored = ignore(SIGXFSZ);
  static_cast<void>(ignore(SIGTTIN));
  static_cast<void>(ignore(SIGTTOU));
  sigset_t mask;
  sigemptyset(&mask);
  struct sigaction old {};
  static_cast<void>(::sigaction(SIGHUP, nullptr, &old));
  for (const SignalRule& rule : kSignalRules) {
    // `nohup margay run ...` must survive the terminal's end.
    if (rule.signal == SIGHUP && old.sa_handler == SIG_IGN) continue;
    sigaddset(&mask, rule.signal);
    // An ignored SIGCHLD would hide the ranks' ends.
    if (rule.use == SignalUse::child || rule.use == SignalUse::end_job) set_default(rule.signal);
  }
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigaddset(&mask, signal);
  static_cast<void>(::sigprocmask(SIG_BLOCK, &mask, &saved.signal_mask));
  descriptor = ::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) return Status::error(std::string("signalfd: ") + std::strerror(errno));
  return {};
}

}  // namespace margay::command
