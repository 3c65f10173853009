#include "libraries/nexus/modules/guard.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

namespace margay::nexus::core {
namespace {

struct CrashSignal {
  int number;
  const char* name;
};

constexpr std::array<CrashSignal, 5> kCrashSignals = {
    {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}}};

// The exit status after a time limit; the launcher reports it.
constexpr int kTimedOutStatus = 70;
constexpr long kLimitUsualMs = 30000;

// Handlers of signals are the process's. Changed by watch_crashes() only.
std::array<struct sigaction, kCrashSignals.size()>& former_actions() {
  static std::array<struct sigaction, kCrashSignals.size()> actions{};
  return actions;
}

// A handler of signals has no other way to its thread's call.
constinit thread_local GuardedCall* innermost_call = nullptr;

// A message of pieces, by write(), which handlers of signals may call.
class CrashText {
 public:
  CrashText& operator<<(const char* piece) {
    for (; *piece != '\0' && length_ < text_.size(); ++piece) text_[length_++] = *piece;
    return *this;
  }
  void print() const { static_cast<void>(!write(STDERR_FILENO, text_.data(), length_)); }

 private:
  std::array<char, 400> text_{};
  std::size_t length_ = 0;
};

void on_crash(int number, siginfo_t* info, void*) {
  for (std::size_t i = 0; i < kCrashSignals.size(); ++i) {
    if (kCrashSignals[i].number != number) continue;
    if (const GuardedCall* const call = innermost_call; call != nullptr) {
      innermost_call = nullptr;
      CrashText text;
      text << "margay: the Nexus module " << call->module << " crashed in " << call->function << " ("
           << kCrashSignals[i].name << "); the process ends. Correct the module, or do not load it\n";
      text.print();
    }
    // The faulting instruction runs again, with the handler before; a signal that was sent is sent again.
    sigaction(number, &former_actions()[i], nullptr);
    if (info->si_code <= 0) static_cast<void>(raise(number));
    return;
  }
}

}  // namespace

void watch_crashes() {
  // Ranks of one process may be threads.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kCrashSignals.size(); ++i) {
    struct sigaction now {};
    sigaction(kCrashSignals[i].number, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_crash) continue;
    former_actions()[i] = now;
    sigaction(kCrashSignals[i].number, &action, nullptr);
  }
}

CrashGuard::CrashGuard(const char* module, const char* function) : call_{module, function, innermost_call} {
  innermost_call = &call_;
}

CrashGuard::~CrashGuard() {
  innermost_call = call_.outer;
}

long guard_limit_ms() {
  const char* const set = std::getenv("MARGAY_NEXUS_MODULE_LIMIT_MS");
  const long limit = set == nullptr ? 0 : std::strtol(set, nullptr, 10);
  return limit > 0 ? limit : kLimitUsualMs;
}

// Shared with the thread.
struct TimeGuard::Watch {
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::string module;
  const char* function = nullptr;
  std::thread thread;

  void run() {
    std::unique_lock lock(mutex);
    const long limit = guard_limit_ms();
    if (changed.wait_for(lock, std::chrono::milliseconds(limit), [this] { return ended; })) return;
    CrashText text;
    text << "margay: the Nexus module " << module.c_str() << " has not returned from " << function << " after "
         << std::to_string(limit).c_str()
         << " ms; the process ends. Correct the module, or set MARGAY_NEXUS_MODULE_LIMIT_MS\n";
    text.print();
    _exit(kTimedOutStatus);
  }
};

TimeGuard::TimeGuard(const std::string& module, const char* function) : watch_(new Watch) {
  watch_->module = module;
  watch_->function = function;
  // The program's own threads handle signals. A thread inherits its creator's mask.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    watch_->thread = std::thread([watch = watch_] { watch->run(); });
  } catch (const std::system_error&) {
    // Without a thread the call has no limit.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TimeGuard::~TimeGuard() {
  {
    const std::scoped_lock lock(watch_->mutex);
    watch_->ended = true;
  }
  watch_->changed.notify_one();
  if (watch_->thread.joinable()) watch_->thread.join();
  delete watch_;
}

}  // namespace margay::nexus::core
