// A guard around the calls of a foreign module. If the module crashes, or does not return in time, the process ends
// with a message that names the module and the function, so that the job ends instead of hanging. The process cannot
// continue, because the module may have damaged any memory.
#pragma once

#include <string>

namespace margay::nexus::core {

// The call in progress on this thread, for the signal handler. Strings live as long as the guard.
struct GuardedCall {
  const char* module = nullptr;
  const char* function = nullptr;
  GuardedCall* outer = nullptr;
};

// Installs the handlers of SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT that print the guarded call and continue with
// the handler before. Called before a module's code is loaded and before its init(): the program may have replaced
// them.
void watch_crashes();

// Names the call of a foreign module on this thread while it lives. A few instructions. Requires: watch_crashes().
class CrashGuard {
 public:
  CrashGuard(const char* module, const char* function);
  ~CrashGuard();
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

 private:
  GuardedCall call_;
};

// A limit for a call that may never return, such as init(): ends the process with a message. Makes a thread, so it is
// not for sends and polls.
class TimeGuard {
 public:
  TimeGuard(const std::string& module, const char* function);
  ~TimeGuard();
  TimeGuard(const TimeGuard&) = delete;
  TimeGuard& operator=(const TimeGuard&) = delete;

 private:
  struct Watch;
  Watch* watch_;
};

// The limit in milliseconds: MARGAY_NEXUS_MODULE_LIMIT_MS, or 30,000.
[[nodiscard]] long guard_limit_ms();

}  // namespace margay::nexus::core
