// The lock of a rank: the process lock and, if several threads call MPI, a lock among the threads, which is locked
// first.
//
// The states (Threads):
//   one    a single thread calls; it locks only the process lock, by its cheap side
//   asked  several threads may call, but the lone thread may still enter as in state `one`; until it has seen the
//          change, other threads enter the process lock by the coprocessor's side
//   many   all threads lock the threads' lock first, whose holder is the owner of the process lock
#pragma once

#include <cstdint>
#include <thread>

#include "mpi_adi/rank/current.hpp"
#include "sim/shm/biased_lock.hpp"
#include "sim/shm/published.hpp"
#include "sim/shm/thread_lock.hpp"

namespace margay::sim {
class Process;
class YieldPolicy;
class ThreadEnds;
}  // namespace margay::sim

namespace margay::mpi_adi {

// The lock of one rank, locked around each MPI call (MpiRank::enter).
class RankLock {
 public:
  // All arguments must outlive this object. `outside`: yields a waiting thread's processor outside of the lock. `ends`:
  // notified when a thread ends.
  RankLock(sim::Process& process, sim::YieldPolicy& outside, sim::ThreadEnds& ends);
  RankLock(const RankLock&) = delete;
  RankLock& operator=(const RankLock&) = delete;

  // Enters the rank. A single-threaded program pays one load and the process lock's cheap side.
  void enter() {
    if (threaded()) {
      if (!detail::thread_recorded) [[unlikely]]
        record_thread();
      mutex_.lock();
      if (threads_.get() != Threads::many) [[unlikely]]
        return enter_beside_lone_thread();
    }
    // In state `many` the holder of the threads' lock is the owner.
    process_lock_.owner_enter();
  }
  // Leaves the rank. A thread that entered beside the lone thread leaves by the slow path.
  void leave() {
    if (threaded()) {
      // This thread entered beside the lone thread, or is the lone thread and entered without the threads' lock.
      if (beside_lone_thread_ || !mutex_.mine()) [[unlikely]]
        return leave_beside();
      process_lock_.owner_leave();
      mutex_.unlock();
    } else {
      process_lock_.owner_leave();
    }
  }
  // Enters the rank if that is possible at once. False if another call is inside, perhaps a call of this thread that a
  // signal interrupted. Also false if this thread may not call (state `one`).
  [[nodiscard]] bool try_enter();
  // Whether a call of this same thread is inside, for a signal handler that interrupted the thread. Safe in signal
  // handlers.
  [[nodiscard]] bool interrupted() const {
    if (threads_.get() == Threads::many) return mutex_.mine();
    return mutex_.mine() || (on_lone_thread() && process_lock_.owner_inside());
  }

  // Allows several threads from now on. Requires: the caller is outside. The lone thread may be inside, even asleep in
  // a wait; it is woken.
  void allow_threads();
  // Whether several threads may call.
  [[nodiscard]] bool threaded() const { return threads_.get() != Threads::one; }
  // Makes the calling thread the lone thread, the only one that may call in state `one`.
  void begin_lone_thread() { lone_thread_.set(std::this_thread::get_id()); }
  [[nodiscard]] bool on_lone_thread() const { return std::this_thread::get_id() == lone_thread_.get(); }

  // Whether this thread should leave and enter again: another thread waits for the threads' lock, or this thread
  // entered without the threads' lock, before there were several threads.
  [[nodiscard]] bool wanted() const { return mutex_.wanted() || !mutex_.mine(); }
  // Lets waiting threads in first. Call between leave() and enter().
  void let_in() { mutex_.let_in(); }
  // The number of times that the lock has gone from one thread to another.
  [[nodiscard]] std::uint32_t turns() const { return mutex_.turns(); }
  // Whether this thread holds the threads' lock.
  [[nodiscard]] bool mine() const { return mutex_.mine(); }

 private:
  // Changes to state `many`. Requires: called on the lone thread, outside the process lock.
  void begin_many();
  // Arranges that this thread's end is reported, once for each thread.
  [[gnu::noinline]] void record_thread();
  // Enters while the lone thread may still enter without the threads' lock.
  [[gnu::noinline]] void enter_beside_lone_thread();
  [[gnu::noinline]] void leave_beside();

  // Constant. The process, its lock, and the observers that the constructor was given.
  sim::Process& process_;
  sim::BiasedLock& process_lock_;
  sim::YieldPolicy& outside_;
  sim::ThreadEnds& ends_;
  sim::ThreadLock mutex_;
  // The states above. The state changes from `one` to `many`, perhaps through `asked`, and never back.
  enum class Threads : std::uint8_t { one, asked, many };
  sim::Published<Threads> threads_{Threads::one};
  bool beside_lone_thread_ = false;  // the holder of the threads' lock has the coprocessor's side; guarded by mutex_
  // The thread that resumed the rank last. Any thread may read it.
  sim::Published<std::thread::id> lone_thread_{std::this_thread::get_id()};
};

}  // namespace margay::mpi_adi
