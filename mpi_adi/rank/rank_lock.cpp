#include "mpi_adi/rank/rank_lock.hpp"

#include <sched.h>

#include "sim/base/thread_end.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi_adi {

RankLock::RankLock(sim::Process& process, sim::Rest& outside, sim::ThreadEnds& ends)
    : process_(process), process_lock_(process.lock()), outside_(outside), ends_(ends) {}

void RankLock::allow_threads() {
  if (threaded()) return;
  if (on_lone_thread()) return begin_many();
  threads_.set(Threads::asked);
  process_.wake();  // it may sleep in a wait
}

void RankLock::begin_many() {
  process_.share_waiting(outside_);
  threads_.set(Threads::many);
}

void RankLock::note_thread() {
  detail::thread_noted = true;
  if (process_.minds_threads()) sim::tell_thread_end(ends_);
}

void RankLock::enter_beside_lone_thread() {
  sim::BiasedLock& lock = process_lock_;
  if (on_lone_thread()) {
    begin_many();
  } else {
    while (threads_.get() != Threads::many) {
      if (lock.try_enter_other()) {
        beside_lone_thread_ = true;
        process_.share_waiting(outside_);
        return;
      }
      sched_yield();  // the lone thread is inside, and sees in its next round that it is not alone
    }
  }
  lock.owner_enter();
}

void RankLock::leave_beside() {
  sim::BiasedLock& lock = process_lock_;
  if (!mutex_.mine()) {
    // The lone thread, which has come in without the threads' lock. From now on it takes that one, too.
    process_.share_waiting(outside_);
    lock.owner_leave();
    threads_.set(Threads::many);
    return;
  }
  beside_lone_thread_ = false;
  lock.leave_other();
  mutex_.unlock();
}

bool RankLock::try_enter() {
  sim::BiasedLock& lock = process_lock_;
  if (!threaded()) {
    if (!on_lone_thread() || lock.owner_inside()) return false;
    lock.owner_enter();
    return true;
  }
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
