// The lock of a rank: the process lock, and before it, when several threads call MPI, a lock among the threads.
//
// The states (Threads):
//   one    a single thread calls, and takes the process lock by its cheap side alone
//   asked  another thread has called, but the lone thread may still be inside by the cheap side alone, or about to
//          enter by it; until it has seen the change, other threads take the coprocessor's side
//   many   all threads take the threads' lock first, whose holder is the owner of the process lock
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

// One for each rank. Locked around each MPI call (MpiRank::enter).
class RankLock {
 public:
  // All must outlive it. `outside`: yields a waiting thread's processor outside of the lock; `ends`: notified when a
  // thread ends.
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
  // Leaves the rank. A thread that had to enter beside the lone one leaves by the slow path.
  void leave() {
    if (threaded()) {
      // This thread entered beside the lone one; or it is the lone one, which entered without the threads' lock.
      if (beside_lone_thread_ || !mutex_.mine()) [[unlikely]]
        return leave_beside();
      process_lock_.owner_leave();
      mutex_.unlock();
    } else {
      process_lock_.owner_leave();
    }
  }
  // Enters only if it is possible at once. False when another call is inside, perhaps one of this very thread that a
  // signal interrupted, or when this thread may not call (state `one`).
  [[nodiscard]] bool try_enter();
  // Whether a call of this very thread is inside; a signal handler asks. Safe in signal handlers.
  [[nodiscard]] bool interrupted() const {
    if (threads_.get() == Threads::many) return mutex_.mine();
    return mutex_.mine() || (on_lone_thread() && process_lock_.owner_inside());
  }

  // Allows several threads from now on. Requires: the caller is outside. The lone thread may be inside, even asleep in
  // a wait; it is woken.
  void allow_threads();
  // Whether several threads may call.
  [[nodiscard]] bool threaded() const { return threads_.get() != Threads::one; }
  // Makes the calling thread the lone one, which may call as long as several may not.
  void begin_lone_thread() { lone_thread_.set(std::this_thread::get_id()); }
  [[nodiscard]] bool on_lone_thread() const { return std::this_thread::get_id() == lone_thread_.get(); }

  // Whether this thread should leave and enter again: another thread waits for the lock that this one holds, or this
  // one entered before there were several threads and therefore without the threads' lock.
  [[nodiscard]] bool wanted() const { return mutex_.wanted() || !mutex_.mine(); }
  // Lets waiting threads in first. Call between leave() and enter().
  void let_in() { mutex_.let_in(); }
  // How often the lock went from one thread to another.
  [[nodiscard]] std::uint32_t turns() const { return mutex_.turns(); }
  // Whether this thread holds the threads' lock.
  [[nodiscard]] bool mine() const { return mutex_.mine(); }

 private:
  // Goes to state `many`. Requires: on the lone thread, outside the process lock.
  void begin_many();
  // Arranges that this thread's end is reported, once for each thread.
  [[gnu::noinline]] void record_thread();
  // Enters while the lone thread may still use the old way.
  [[gnu::noinline]] void enter_beside_lone_thread();
  [[gnu::noinline]] void leave_beside();

  // Constant. The process, its lock, and the observers that the constructor was given.
  sim::Process& process_;
  sim::BiasedLock& process_lock_;
  sim::YieldPolicy& outside_;
  sim::ThreadEnds& ends_;
  sim::ThreadLock mutex_;
  // The way to take the process lock; see above. Goes from `one` to `many`, perhaps through `asked`, and never back.
  enum class Threads : std::uint8_t { one, asked, many };
  sim::Published<Threads> threads_{Threads::one};
  bool beside_lone_thread_ = false;  // the holder of the threads' lock has the coprocessor's side; guarded by mutex_
  // The thread that resumed the rank last. Any thread may read it.
  sim::Published<std::thread::id> lone_thread_{std::this_thread::get_id()};
};

}  // namespace margay::mpi_adi
