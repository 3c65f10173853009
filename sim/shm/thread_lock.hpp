// The lock between a process's threads. It has no queue, because a queue would pass the lock to a thread that has lost
// its processor, while threads that could run wait behind that thread. Against starvation, a thread that finds others
// waiting lets one of them in first, for a bounded time.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <ctime>

#include "portals/base/assert.hpp"
#include "sim/base/limits.hpp"
#include "sim/shm/barrier.hpp"

namespace margay::sim {

// The lock. Used with MPI_THREAD_SERIALIZED and above. Meets the standard's requirements of a lockable type, so
// std::lock_guard can hold it.
class ThreadLock {
 public:
  ThreadLock() = default;
  ThreadLock(const ThreadLock&) = delete;
  ThreadLock& operator=(const ThreadLock&) = delete;

  // Not recursive.
  void lock() {
    if (!try_lock()) [[unlikely]]
      lock_slowly();
    record_turn();
  }
  // Takes the lock only if it is free and no thread waits. The instruction that takes it also stores the holder, so
  // mine() is right at every moment, in a signal handler, too.
  [[nodiscard]] bool try_lock() { return !wanted() && take(); }
  // Frees the lock, and wakes no thread: waiters poll. Requires: mine().
  void unlock() {
    // Release: pairs with the acquire in take(): the next holder sees what we did.
    holder_.store(kNoThread, std::memory_order_release);
  }
  // Whether the calling thread holds the lock; in a signal handler, whether the interrupted code does. Relaxed, with no
  // partner: only this thread writes and removes its own name.
  [[nodiscard]] bool mine() const { return holder_.load(std::memory_order_relaxed) == myself(); }

  // Whether a thread waits. Relaxed, with no partner: a hint, which may lag behind.
  [[nodiscard]] bool wanted() const { return wanting_.load(std::memory_order_relaxed) != 0; }
  // How often lock() took the lock after another thread's lock(); try_lock() alone is not counted.
  [[nodiscard]] std::uint32_t turns() const {
    // Relaxed, with no partner: exact for the holder, which writes it, and a hint for others.
    return turns_.load(std::memory_order_relaxed);
  }
  // Waits, for a bounded time, until another thread has taken the lock or none waits for it. Requires: not mine().
  void let_in() const {
    MARGAY_DEBUG_ASSERT(!mine());
    const std::uint32_t before = turns();
    for (int tries = 0; tries < kPatience && wanted() && turns() == before; ++tries) pause(tries);
  }

 private:
  // A thread's name is an address of its own; 0 is none.
  using Name = std::uintptr_t;
  static constexpr Name kNoThread = 0;
  // Number of pauses, of some 15 ns each: together about as long as an MPI call holds the lock.
  static constexpr int kSpins = 50;
  // Number of yields after these pauses. Then the thread naps, for kNapNs each time.
  static constexpr int kYields = 64;
  static constexpr long kNapNs = 20'000;
  // The bound of let_in(), in pauses, yields and naps: it gives up on a waiter that does not get a processor in 32
  // naps, some two milliseconds with the timer slack of Linux.
  static constexpr int kPatience = kSpins + kYields + 32;

  // An address that identifies the thread while it lives.
  static Name myself() { return reinterpret_cast<Name>(__builtin_thread_pointer()); }
  // One step of a wait that becomes more patient: spins, yields, then naps.
  static void pause(int tries) {
    if (tries < kSpins) {
      spin_pause();
    } else if (tries < kSpins + kYields) {
      sched_yield();  // the holder may need this processor, and holds the lock too briefly for a sleep
    } else {
      // The holder may have a lower priority. Then it runs here while this thread naps, but not while this thread
      // yields.
      const timespec nap{0, kNapNs};
      nanosleep(&nap, nullptr);
    }
  }
  // Takes the lock if it is free at this moment.
  [[nodiscard]] bool take() {
    Name expected = kNoThread;
    // Acquire: pairs with the release in unlock(): this thread sees what the last holder did.
    return holder_.compare_exchange_strong(expected, myself(), std::memory_order_acquire, std::memory_order_relaxed);
  }
  // The path of lock() when the lock is taken or other threads wait for it.
  [[gnu::noinline]] void lock_slowly() {
    if (wanted()) let_in();
    // Relaxed, here and below: a hint to other threads, which may read it too early or too late.
    wanting_.fetch_add(1, std::memory_order_relaxed);
    for (int tries = 0; !take(); ++tries) pause(tries);
    wanting_.fetch_sub(1, std::memory_order_relaxed);
  }
  // Counts a change of holder; called by the holder.
  void record_turn() {
    if (last_ == myself()) [[likely]]
      return;
    last_ = myself();
    turns_.store(turns() + 1, std::memory_order_relaxed);  // see turns()
  }

  // The name of the thread that holds the lock.
  alignas(kCacheLineBytes) std::atomic<Name> holder_{kNoThread};
  // See turns(); written by the holder alone, so an addition needs no locked instruction.
  std::atomic<std::uint32_t> turns_{0};
  // The thread that took the lock last; written by the holder.
  Name last_ = kNoThread;
  // Waiting threads, in a line of its own, because every try_lock() reads it.
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> wanting_{0};
};

}  // namespace margay::sim
