// A lock biased to one thread. The owner enters and leaves with a plain store and a load, no fence and no locked
// instruction; another thread (the message coprocessor) pays with membarrier and looks again.
//
// Invariants
//  1. Owner: sets its word odd, then reads `other_`. Other: sets `other_`, then (membarrier) reads the owner's word. At
//     least one sees the other, so never both are inside.
//  2. An owner that sees the other at its entry withdraws and waits; the other's stay is short. The other waits for an
//     owner that is inside, if at all, with `other_` set (enter_other()): an owner that comes and goes is then stopped
//     at its next entry, so that short stays without end cannot keep the other out.
//  3. Where membarrier is refused, and under thread sanitizer, both sides use sequentially consistent accesses instead.
#pragma once

#include <atomic>
#include <cstdint>

#include "sim/base/limits.hpp"
#include "sim/shm/barrier.hpp"

namespace margay::sim {

class BiasedLock {
 public:
  // Registers this process for membarrier; `allow_membarrier` false forces the fenced form (tests).
  explicit BiasedLock(bool allow_membarrier = true)
      : asymmetric_(allow_membarrier && kMembarrierAllowed && register_process_barrier()) {}
  BiasedLock(const BiasedLock&) = delete;
  BiasedLock& operator=(const BiasedLock&) = delete;

  // Owner thread only; not recursive: requires !owner_inside(). Waits while the other is inside.
  void owner_enter() {
    // Relaxed: only this thread writes the word.
    const std::uint64_t outside = owner_.load(std::memory_order_relaxed);
    if (asymmetric_) [[likely]] {
      // Relaxed store and the compiler fence: the processor may still read `other_` before the store is visible; the
      // process_barrier() in try_enter_other, the partner, makes the store visible before that thread looks at it.
      owner_.store(outside + 1, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      // Pairs with the sequentially consistent load in try_enter_other; a weaker pair could read old values on both
      // sides, and both would be inside.
      owner_.store(outside + 1, std::memory_order_seq_cst);
    }
    // Sequentially consistent (a plain load on x86): see above. As an acquire it pairs with the release in
    // leave_other: what the other did under the lock is seen. Without it we could work on half-updated lists.
    if (other_.load(std::memory_order_seq_cst) != kFree) [[unlikely]]
      owner_wait(outside);
  }
  void owner_leave() {
    // Release: pairs with the acquire of the owner's word in try_enter_other; what we did under the lock is seen there.
    // The load is relaxed: only this thread writes the word, it has no partner.
    owner_.store(owner_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // From the owner thread: exact. From another: a guess, and so relaxed, with no partner.
  [[nodiscard]] bool owner_inside() const { return (owner_.load(std::memory_order_relaxed) & 1) != 0; }

  // Any thread but the owner; several may try, one at a time gets in. false: the owner or another is inside.
  [[nodiscard]] bool try_enter_other();
  // The same, but waits for the owner to leave, and keeps it from entering again. `gives_up` is asked after each look
  // that finds the owner inside; true: returns false.
  template <typename GivesUp>
  [[nodiscard]] bool enter_other(GivesUp&& gives_up) {
    if (!reserve_other()) return false;
    while (!owner_is_outside()) {
      if (!gives_up()) continue;
      leave_other();
      return false;
    }
    return true;
  }
  void leave_other();

  // How often the owner has entered: whether it has been in the library lately. Any thread; may lag behind. Relaxed,
  // with no partner: nothing is read on the strength of it.
  [[nodiscard]] std::uint64_t owner_entries() const { return (owner_.load(std::memory_order_relaxed) + 1) / 2; }
  // False: membarrier is refused and the owner pays a fence.
  [[nodiscard]] bool asymmetric() const { return asymmetric_; }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kHeldOwnerWaits = 2;

  // Sets `other_`. From its return on an owner that enters sees it. false: another of the others has it.
  [[nodiscard]] bool reserve_other();
  // Requires: reserved by this thread. True: the lock is this thread's.
  [[nodiscard]] bool owner_is_outside() const {
    // Sequentially consistent: pairs with the owner's store in the fenced form. As an acquire it pairs with the release
    // in owner_leave: what the owner did under the lock is seen.
    return (owner_.load(std::memory_order_seq_cst) & 1) == 0;
  }
  void owner_wait(std::uint64_t outside);
  void wait_until_free();

  const bool asymmetric_;
  // Owner thread: twice the entries, plus 1 less 1 while inside (odd: inside).
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> owner_{0};
  // The others: kFree, kHeld, or held with the owner asleep on it (a futex).
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> other_{kFree};
};

}  // namespace margay::sim
