#include "mpi_adi/rank/wait_room.hpp"

namespace margay::mpi_adi {

void WaitRoom::end_polling() {
  // Another thread still polls.
  if (--pollers_ > away_) return;
  // The latest round may have completed other threads' waits, too.
  serve();
  hand_on();
}

void WaitRoom::begin_callback() {
  ++away_;
  // Perhaps every poller is away now, so a waiting thread has to poll.
  if (pollers_ <= away_) hand_on();
}

void WaitRoom::hand_on() {
  if (waiting_threads_.empty()) return;
  ++pollers_;  // counts the waiting thread, so that no new wait becomes a second poller meanwhile
  // The latest waiting thread may not sleep yet, and then the call needs no system call (sim/shm/oneshot_wakeup).
  WaitingThread& next = *waiting_threads_.back();
  waiting_threads_.pop_back();
  next.wakeup_.call();
}

void WaitRoom::serve() {
  std::erase_if(waiting_threads_, [](WaitingThread* thread) {
    if (!thread->done_(thread->asked_)) return false;
    // Set before the call, because the waiting thread reads it without the lock when it wakes.
    thread->served_ = true;
    thread->wakeup_.call();
    return true;
  });
}

}  // namespace margay::mpi_adi
