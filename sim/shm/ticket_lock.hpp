// A fair lock between the threads of a process: who asks first gets in first. Calls that wait give it up between rounds
// of progress; with an unfair lock the same thread would take it again before the next one has woken up.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "sim/base/limits.hpp"
#include "sim/shm/barrier.hpp"

namespace margay::sim {

class TicketLock {
 public:
  TicketLock() = default;
  TicketLock(const TicketLock&) = delete;
  TicketLock& operator=(const TicketLock&) = delete;

  // Not recursive.
  void lock() {
    // Relaxed: the number only has to be ours alone.
    const std::uint32_t mine = next_.fetch_add(1, std::memory_order_relaxed);
    // Acquire: pairs with the release in unlock(); what the last holder did is seen.
    for (int tries = 0; serving_.load(std::memory_order_acquire) != mine; ++tries) {
      if (tries < kSpins) {
        spin_pause();
      } else {
        sched_yield();  // a holder's stay is one round of progress: too short to sleep for
      }
    }
  }
  // Only if nobody has it or waits for it.
  [[nodiscard]] bool try_lock() {
    // Acquire: as in lock().
    std::uint32_t free = serving_.load(std::memory_order_acquire);
    // Relaxed: as in lock().
    return next_.compare_exchange_strong(free, free + 1, std::memory_order_relaxed);
  }
  void unlock() {
    // Relaxed load: only the holder writes it. Release store: pairs with the acquire in lock().
    serving_.store(serving_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // Somebody waits. The holder's question; relaxed: a guess that becomes true once.
  [[nodiscard]] bool contended() const {
    return next_.load(std::memory_order_relaxed) - serving_.load(std::memory_order_relaxed) > 1;
  }

 private:
  static constexpr int kSpins = 100;  // pauses of some 15 ns: about as long as a call of MPI holds the lock
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> next_{0};
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> serving_{0};
};

}  // namespace margay::sim
