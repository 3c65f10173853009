// The last words of a process. Who says them may need a lock of stdio's or of malloc's that another thread holds, or
// the very code that a signal interrupted: a second later the process ends all the same.
#pragma once

#include <signal.h>
#include <time.h>

namespace margay::sim {

class LastSecond {
 public:
  // By SIGKILL, not with a status.
  static constexpr int kKill = 256;

  // From now on, with the low 8 bits of `status`. Any thread, in a handler of a signal too. The timer is this thread's
  // alone, so that no thread that waits for signals takes it. (Where no timer is to be had, alarm()'s, whose signal
  // ends the process. The thread sanitizer holds handlers back, and with them this one.)
  explicit LastSecond(int status);
  // All is said: the process goes on.
  ~LastSecond();
  LastSecond(const LastSecond&) = delete;
  LastSecond& operator=(const LastSecond&) = delete;

 private:
  timer_t timer_{};
  bool armed_ = false;
  struct sigaction before_ {};
  sigset_t blocked_before_{};
};

}  // namespace margay::sim
