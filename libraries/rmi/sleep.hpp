// The sleep of a node's communication thread between two interrupts (paper, 6.2).
#pragma once

#include <semaphore>

namespace margay::rmi::core {

class Sleep {
 public:
  // The thread is about to call wait(). Inside.
  void begin() { asleep_ = true; }
  // Sleeps until wake(). Outside.
  void wait() { awake_.acquire(); }
  [[nodiscard]] bool asleep() const { return asleep_; }
  // Ends the sleep, if the thread sleeps or is about to. Inside.
  void wake() {
    if (!asleep_) return;
    asleep_ = false;
    awake_.release();
  }

 private:
  // Guarded by the process lock.
  bool asleep_ = false;
  std::binary_semaphore awake_{0};
};

}  // namespace margay::rmi::core
