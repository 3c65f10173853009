#include "mpi_adi/rank/rank_lock.hpp"

#include <sched.h>

#include "sim/base/thread_end.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi_adi {

RankLock::RankLock(sim::Process& process, sim::YieldPolicy& outside, sim::ThreadEnds& ends)
    : process_(process), process_lock_(process.lock()), outside_(outside), ends_(ends) {}

void RankLock::allow_threads() {
  if (threaded()) return;
  // The caller is the lone thread and outside, so no thread is inside without the threads' lock.
  if (on_lone_thread()) return begin_many();
  threads_.set(Threads::asked);
  process_.wake();  // the lone thread may sleep in a wait, and must see the change
}

void RankLock::begin_many() {
  // Called before the state changes, because a thread that reads `many` may wait at once.
  process_.share_waiting(outside_);
  threads_.set(Threads::many);
}

void RankLock::record_thread() {
  detail::thread_recorded = true;
  // Only a process with TCP wires needs a report of a thread's end.
  if (process_.minds_threads()) sim::notify_thread_end(ends_);
}

void RankLock::enter_beside_lone_thread() {
  sim::BiasedLock& lock = process_lock_;
  // The lone thread is outside now, so it may change the state itself.
  if (on_lone_thread()) {
    begin_many();
  } else {
    while (threads_.get() != Threads::many) {
      if (lock.try_enter_other()) {
        beside_lone_thread_ = true;
        process_.share_waiting(outside_);
        return;
      }
      sched_yield();  // the lone thread is inside; in its next round it sees that it is not alone
    }
  }
  lock.owner_enter();
}

void RankLock::leave_beside() {
  sim::BiasedLock& lock = process_lock_;
  if (!mutex_.mine()) {
    // This is the lone thread, which entered without the threads' lock. From now on it locks that lock, too.
    process_.share_waiting(outside_);
    lock.owner_leave();
    threads_.set(Threads::many);
    return;
  }
  // Cleared before the unlock, because the threads' lock guards this flag.
  beside_lone_thread_ = false;
  lock.leave_other();
  mutex_.unlock();
}

bool RankLock::try_enter() {
  sim::BiasedLock& lock = process_lock_;
  if (!threaded()) {
    // If owner_inside() holds on the lone thread, a signal handler has interrupted the thread's own call.
    if (!on_lone_thread() || lock.owner_inside()) return false;
    lock.owner_enter();
    return true;
  }
  // Never waits: a signal handler calls this, and the holder may be the thread that it interrupted.
  if (!mutex_.try_lock()) return false;
  if (threads_.get() == Threads::many) {
    lock.owner_enter();
  } else if (!lock.try_enter_other()) {
    mutex_.unlock();
    return false;
  } else {
    beside_lone_thread_ = true;
  }
  return true;
}

}  // namespace margay::mpi_adi
