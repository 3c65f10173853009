// A handover of work from a process's owner thread to a thread that may be parked, at the cost of two plain accesses.
//
// Invariant: the owner stores `posted`, then reads `parked`; the parker stores `parked`, then (membarrier) reads
// `posted`. At least one sees the other, so no work is left with a thread that sleeps without a limit.
#pragma once

#include <atomic>
#include <cstdint>

#include "portals/base/assert.hpp"
#include "sim/shm/barrier.hpp"

namespace margay::sim {

// The handover between one owner and one parker. Used by the coprocessor. Process memory only. Every call of the parker
// comes from one thread.
class Parking {
 public:
  explicit Parking(bool allow_membarrier = true)
      : asymmetric_(allow_membarrier && kMembarrierAllowed && register_process_barrier()) {}

  // Owner: posts work. `stay`: the number of its present entry into the process lock (BiasedLock::owner_entries; not 0,
  // and growing). Returns true when the other thread is parked and must be woken.
  [[nodiscard]] bool post(std::uint64_t stay) {
    MARGAY_DEBUG_ASSERT(stay != 0);
    if (asymmetric_) [[likely]] {
      // Relaxed, ordered for the compiler only: the process_barrier() in park(), the partner, makes our store visible
      // to that thread's read, or its `parked` visible to our read.
      posted_.store(stay, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      return parked_.load(std::memory_order_relaxed) != 0;
    }
    // Sequentially consistent: pairs with park(); weaker orders let both sides read the old value.
    posted_.store(stay, std::memory_order_seq_cst);
    return parked_.load(std::memory_order_seq_cst) != 0;
  }

  // Parker: takes the post. Returns the stay of the last one; 0: none. Relaxed: the work itself is read under the
  // process lock.
  [[nodiscard]] std::uint64_t take() { return posted_.exchange(0, std::memory_order_relaxed); }
  // Parker: about to sleep without a limit. false: work was posted meanwhile, and the thread is not parked.
  [[nodiscard]] bool park() {
    // Sequentially consistent store and load: see post(), the partner.
    parked_.store(1, std::memory_order_seq_cst);
    if (asymmetric_) static_cast<void>(process_barrier());
    if (posted_.load(std::memory_order_seq_cst) == 0) return true;
    unpark();
    return false;
  }
  // Parker: awake again. Relaxed: an owner that still sees 1 wakes it once unnecessarily.
  void unpark() { parked_.store(0, std::memory_order_relaxed); }

  // Any thread, once. Release and acquire: a thread that sees the stop sees what was written before it.
  void stop() { stopping_.store(true, std::memory_order_release); }
  // Whether stop() was called.
  [[nodiscard]] bool stopping() const { return stopping_.load(std::memory_order_acquire); }

 private:
  // Whether membarrier orders the two sides, so that the owner pays no fence.
  const bool asymmetric_;
  // Written by the owner: the stay in which it last posted; 0: the parker has taken it.
  std::atomic<std::uint64_t> posted_{0};
  // Written by the parker: 1 while it is parked, when the caller of post() must wake it.
  std::atomic<std::uint32_t> parked_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace margay::sim
