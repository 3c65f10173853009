// A lock that is biased to one thread. The owner enters and leaves with a plain store and a load, without a fence or a
// locked instruction; the other side (the message coprocessor) pays with membarrier and a second look. The process lock
// is such a lock.
//
// Invariants
//  1. The owner makes its word odd, then reads `other_`. The other side sets `other_`, then (membarrier) reads the
//     owner's word. At least one sees the other, so they are never both inside.
//  2. An owner that sees the other side at its entry withdraws and waits; the stay of the other side is short. The
//     other side may wait for an owner that is inside (enter_other()). Meanwhile `other_` is set, which stops the owner
//     at its next entry. So an endless series of short stays of the owner cannot keep the other side out.
//  3. Where membarrier is refused, and under thread sanitizer, both sides use sequentially consistent accesses instead.
#pragma once

#include <atomic>
#include <cstdint>

#include "sim/base/limits.hpp"
#include "sim/shm/barrier.hpp"

namespace margay::sim {

// The lock of a process's kernel and of all layers above it. Not recursive on either side.
class BiasedLock {
 public:
  // Registers this process for membarrier; `allow_membarrier` false forces the fenced form (tests).
  explicit BiasedLock(bool allow_membarrier = true)
      : asymmetric_(allow_membarrier && kMembarrierAllowed && register_process_barrier()) {}
  BiasedLock(const BiasedLock&) = delete;
  BiasedLock& operator=(const BiasedLock&) = delete;

  // Enters as the owner. Waits while the other side is inside. Requires: the owner thread, and !owner_inside().
  void owner_enter() {
    // Relaxed: only this thread writes the word.
    const std::uint64_t outside = owner_.load(std::memory_order_relaxed);
    if (asymmetric_) [[likely]] {
      // Relaxed store and the compiler fence: the processor may still read `other_` before the store is visible. The
      // partner is the process_barrier() in reserve_other: it makes the store visible before the other side reads the
      // owner's word.
      owner_.store(outside + 1, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      // Pairs with the sequentially consistent load in owner_is_outside; a weaker pair could read old values on both
      // sides, and both would be inside.
      owner_.store(outside + 1, std::memory_order_seq_cst);
    }
    // Sequentially consistent (a plain load on x86): see above. As an acquire it pairs with the release in leave_other,
    // so that what the other side did under the lock is seen. Without it we could work on half-updated lists.
    if (other_.load(std::memory_order_seq_cst) != kFree) [[unlikely]]
      owner_wait(outside);
  }
  // Leaves as the owner. Requires: owner_inside().
  void owner_leave() {
    // Release: pairs with the acquire in owner_is_outside: what we did under the lock is seen there. The load is
    // relaxed, with no partner: only this thread writes the word.
    owner_.store(owner_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // Whether the owner is inside: exact in the owner thread, a guess in others, and so relaxed, with no partner.
  [[nodiscard]] bool owner_inside() const { return (owner_.load(std::memory_order_relaxed) & 1) != 0; }

  // Enters as the other side if that is possible at once. false: the owner or another thread is inside. Any thread but
  // the owner.
  [[nodiscard]] bool try_enter_other();
  // The same, but waits for the owner to leave, and keeps it from entering again. If another thread of the other side
  // is inside, returns false at once. `gives_up` is called after each look that finds the owner inside; when it returns
  // true, the wait ends with false.
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
  // Leaves as the other side, and wakes an owner that waits. Requires: entered by this thread.
  void leave_other();

  // The number of the owner's entries, which shows whether it has been in the library lately. Any thread; may lag
  // behind. Relaxed, with no partner: no other data is read because of it.
  [[nodiscard]] std::uint64_t owner_entries() const { return (owner_.load(std::memory_order_relaxed) + 1) / 2; }
  // Whether the owner enters without a fence; false where membarrier is refused.
  [[nodiscard]] bool asymmetric() const { return asymmetric_; }

 private:
  // Values of `other_`.
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kHeldOwnerWaits = 2;

  // Sets `other_`, so that an owner that enters from then on sees it. false: another thread has it.
  [[nodiscard]] bool reserve_other();
  // Whether this thread has the lock now. Requires: it has reserved it.
  [[nodiscard]] bool owner_is_outside() const {
    // Sequentially consistent: pairs with the owner's store in the fenced form. As an acquire it pairs with the release
    // in owner_leave: what the owner did under the lock is seen.
    return (owner_.load(std::memory_order_seq_cst) & 1) == 0;
  }
  // The owner's slow path: withdraws until the other side has left, then enters. `outside`: the owner's word before its
  // entry, an even number.
  void owner_wait(std::uint64_t outside);
  // Spins, yields, then sleeps; may return while the lock is still held.
  void wait_until_free();

  // Chosen once: both sides must use the same form.
  const bool asymmetric_;
  // Written by the owner: twice its entries, less 1 while it is inside, so that odd means inside. Both words have cache
  // lines of their own, so that neither side's polling slows the other.
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> owner_{0};
  // Written by the other side: kFree or kHeld. An owner that falls asleep on it (a futex) replaces kHeld by
  // kHeldOwnerWaits.
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> other_{kFree};
};

}  // namespace margay::sim
