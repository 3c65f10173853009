#include "sim/shm/biased_lock.hpp"

#include <sched.h>

namespace margay::sim {
namespace {

// Spins are pauses of some 15 ns: 3 us together, as long as a round of progress of the other side. Then the owner
// yields, in case the other side has lost its processor, and then sleeps.
constexpr int kSpins = 200;
constexpr int kYields = 8;

}  // namespace

bool BiasedLock::try_enter_other() {
  // Relaxed: a first look that saves the barrier. An old value costs a barrier or a failed attempt, which the caller
  // must expect anyway.
  if ((owner_.load(std::memory_order_relaxed) & 1) != 0) return false;
  return enter_other([] { return true; });
}

bool BiasedLock::reserve_other() {
  std::uint32_t expected = kFree;
  // Sequentially consistent on success: the fenced form's half of invariant 1. As an acquire it pairs with the release
  // of the last leave_other, by another thread of this side.
  if (!other_.compare_exchange_strong(expected, kHeld, std::memory_order_seq_cst, std::memory_order_relaxed))
    return false;
  // A process that could register is not refused here; if it were, the next look could be too early.
  if (!asymmetric_ || process_barrier()) return true;
  leave_other();
  return false;
}

void BiasedLock::leave_other() {
  // Release: pairs with the owner's load of `other_`: what was done under the lock is seen by the next to enter.
  if (other_.exchange(kFree, std::memory_order_release) == kHeldOwnerWaits) {
    futex_wake_all(reinterpret_cast<const std::uint32_t&>(other_));
  }
}

void BiasedLock::owner_wait(std::uint64_t outside) {
  for (;;) {
    // Withdraws, so that the other side, which may be testing the word, can enter. Release: as in owner_leave.
    owner_.store(outside, std::memory_order_release);
    wait_until_free();
    // Announces again. Sequentially consistent store and load: this is the slow path, a fence is cheap here, and it
    // serves both forms (invariant 1).
    owner_.store(outside + 1, std::memory_order_seq_cst);
    if (other_.load(std::memory_order_seq_cst) == kFree) return;
  }
}

void BiasedLock::wait_until_free() {
  // All loads here relaxed: they decide nothing, owner_wait looks again.
  for (int i = 0; i < kSpins; ++i) {
    if (other_.load(std::memory_order_relaxed) == kFree) return;
    spin_pause();
  }
  for (int i = 0; i < kYields; ++i) {
    if (other_.load(std::memory_order_relaxed) == kFree) return;
    ::sched_yield();
  }
  std::uint32_t held = kHeld;
  // Relaxed: the futex itself compares again; leave_other's exchange sees either value.
  if (other_.compare_exchange_strong(held, kHeldOwnerWaits, std::memory_order_relaxed) || held == kHeldOwnerWaits) {
    futex_wait(reinterpret_cast<const std::uint32_t&>(other_), kHeldOwnerWaits, ~std::uint64_t{0});
  }
}

}  // namespace margay::sim
