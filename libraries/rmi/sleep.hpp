// The sleep of a node's communication thread between two interrupts (paper, 6.2).
//
// The thread announces its sleep inside, and then sleeps outside: a wake() in between is kept by the semaphore. Each
// begin() is followed by one release at most, because wake() also ends the announcement; end() is one more, so the
// semaphore is never above 2.
#pragma once

#include <semaphore>

namespace margay::rmi::core {

class Sleep {
 public:
  // The thread is about to call wait(). Inside.
  void begin() { asleep_ = true; }
  // Sleeps until wake(). Outside. Requires: begin() was called since the last wait().
  void wait() { awake_.acquire(); }
  // Whether wake() would end a sleep. Inside.
  [[nodiscard]] bool asleep() const { return asleep_; }
  // Ends the sleep, if the thread sleeps or is about to. Inside.
  void wake() {
    if (!asleep_) return;
    asleep_ = false;
    awake_.release();
  }
  // Ends the present sleep, or the next one: for exit(), which may interrupt a thread that is inside. Anywhere, once.
  void end() { awake_.release(); }

 private:
  // Guarded by the process lock.
  bool asleep_ = false;
  std::counting_semaphore<2> awake_{0};
};

}  // namespace margay::rmi::core
