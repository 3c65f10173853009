// A time limit for the last output of a process. The output may need a lock of stdio or malloc, which another thread,
// or the code that a signal interrupted, may hold for ever. So the process ends when the time is over, whether the
// output is complete or not.
#pragma once

#include <signal.h>
#include <time.h>

namespace margay::sim {

// The time limit, armed from construction to destruction.
class LastSecond {
 public:
  // A bit of `status`: the process ends by SIGKILL and not with a status.
  static constexpr int kKill = 256;

  // Ends the process in a second, or in `seconds`, with the low 8 bits of `status`. Any thread may use it, also in a
  // signal handler. The timer's signal goes to this thread only, so that no thread that waits for signals takes it.
  // (Without a timer, alarm()'s signal ends the process. The thread sanitizer delays handlers, and with them this one.)
  explicit LastSecond(int status, unsigned seconds = 1);
  // Disarms it: the process continues.
  ~LastSecond();
  LastSecond(const LastSecond&) = delete;
  LastSecond& operator=(const LastSecond&) = delete;

 private:
  // The timer; without one alarm() is used, and armed_ is false.
  timer_t timer_{};
  bool armed_ = false;
  // The program's handler and signal mask, which the destructor restores.
  struct sigaction before_ {};
  sigset_t blocked_before_{};
};

}  // namespace margay::sim
