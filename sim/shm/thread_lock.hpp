// The lock between a process's threads. Who is running takes it: a queue would hand it to a thread that has lost its
// processor while others that could go on wait behind. Nobody starves, because newcomers and holders that come again
// let those in first who have waited.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <ctime>

#include "portals/base/assert.hpp"
#include "sim/base/limits.hpp"
#include "sim/shm/barrier.hpp"

namespace margay::sim {

class ThreadLock {
 public:
  ThreadLock() = default;
  ThreadLock(const ThreadLock&) = delete;
  ThreadLock& operator=(const ThreadLock&) = delete;

  // Not recursive.
  void lock() {
    if (!try_lock()) [[unlikely]]
      lock_slowly();
    note_turn();
  }
  // Only if nobody has it or waits for it. The thread is the lock's value, so that from the moment it is taken mine()
  // is true, for a signal handler too.
  [[nodiscard]] bool try_lock() { return !wanted() && take(); }
  void unlock() {
    // Release: pairs with the acquire in take(); who gets in next sees what we did.
    holder_.store(kNobody, std::memory_order_release);
  }
  // Whether the calling thread holds it, perhaps in the code that its signal handler interrupted. Relaxed, with no
  // partner: only this thread writes and unwrites its own name.
  [[nodiscard]] bool mine() const { return holder_.load(std::memory_order_relaxed) == myself(); }

  // Somebody waits for it. Relaxed, with no partner: a guess that becomes true once.
  [[nodiscard]] bool wanted() const { return wanting_.load(std::memory_order_relaxed) != 0; }
  // How often a thread got in after another one.
  [[nodiscard]] std::uint32_t turns() const {
    // Relaxed, with no partner: holders write it; others guess.
    return turns_.load(std::memory_order_relaxed);
  }
  // Until another thread got in, or nobody waits; a while at most. Requires: not mine().
  void let_in() const {
    MARGAY_DEBUG_ASSERT(!mine());
    const std::uint32_t before = turns();
    for (int tries = 0; tries < kPatience && wanted() && turns() == before; ++tries) pause(tries);
  }

 private:
  using Name = std::uintptr_t;
  static constexpr Name kNobody = 0;
  static constexpr int kSpins = 50;  // pauses of some 15 ns: about as long as a call of MPI holds the lock
  static constexpr int kYields = 64;
  static constexpr long kNapNs = 20'000;
  // Who is kept from running for longer is not waited for: two milliseconds of naps.
  static constexpr int kPatience = kSpins + kYields + 32;

  // An address that is the thread's own while it lives.
  static Name myself() { return reinterpret_cast<Name>(__builtin_thread_pointer()); }
  static void pause(int tries) {
    if (tries < kSpins) {
      spin_pause();
    } else if (tries < kSpins + kYields) {
      sched_yield();  // the holder may need this processor; its stay is too short to sleep for
    } else {
      const timespec nap{0, kNapNs};  // a yield gives way to no thread of lower priority, which it may be
      nanosleep(&nap, nullptr);
    }
  }
  [[nodiscard]] bool take() {
    Name expected = kNobody;
    // Acquire: pairs with the release in unlock(); what the last holder did is seen.
    return holder_.compare_exchange_strong(expected, myself(), std::memory_order_acquire, std::memory_order_relaxed);
  }
  [[gnu::noinline]] void lock_slowly() {
    if (wanted()) let_in();
    // Relaxed, this and what follows: a hint to others, who may look too early or too late.
    wanting_.fetch_add(1, std::memory_order_relaxed);
    for (int tries = 0; !take(); ++tries) pause(tries);
    wanting_.fetch_sub(1, std::memory_order_relaxed);
  }
  void note_turn() {
    if (last_ == myself()) [[likely]]
      return;
    last_ = myself();
    turns_.store(turns() + 1, std::memory_order_relaxed);  // see turns()
  }

  alignas(kCacheLineBytes) std::atomic<Name> holder_{kNobody};
  std::atomic<std::uint32_t> turns_{0};
  Name last_ = kNobody;  // who was in last; the holder's
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> wanting_{0};
};

}  // namespace margay::sim
