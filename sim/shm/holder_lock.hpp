// A spin lock of one word in memory that processes share. The word names the holder, so that a waiter can test whether
// the holder is dead and take the lock over. For critical sections of a few instructions; not fair.
//
// A waiter spins, then yields, in case the holder needs its processor, and then sleeps in naps of up to a millisecond,
// because the holder may be stopped. leave() wakes no waiter, and so costs a store.
//
// Invariants
//  1. The word is 0 (free), or the holder's id + 1. Only two processes remove an id: the process that put it there, and
//     one that has found that process dead.
//  2. The process that takes over finds the guarded data as the death left them: the dead process may have ended
//     between any two of its stores.
//  3. If several processes take over from the same holder, one succeeds, because the id of a dead process never comes
//     back.
#pragma once

#include <atomic>
#include <cstdint>

#include "portals/base/assert.hpp"

namespace margay::sim {

// The caller's test whether the holder `id` is dead: a dead process, or an id that no process has. A test that answers
// no for an invalid id makes a waiter on damaged memory wait for ever. A yes is final, and means that the process
// stores nothing more.
class HolderDeathTest {
 public:
  using IsDead = bool (*)(void* context, std::uint32_t id);
  // Called while a waiter sleeps for the holder `id`, with the time of the wait so far; 0: the wait is over.
  using Waits = void (*)(void* context, std::uint32_t id, std::uint64_t waited_ns);
  HolderDeathTest(IsDead is_dead, void* context, Waits while_waiting = nullptr)
      : is_dead_(is_dead), context_(context), waits_(while_waiting) {}
  [[nodiscard]] bool operator()(std::uint32_t id) const { return is_dead_(context_, id); }
  // Reports a wait to the caller, if it wants reports.
  void waits(std::uint32_t id, std::uint64_t waited_ns) const {
    if (waits_ != nullptr) waits_(context_, id, waited_ns);
  }

 private:
  // Constant after construction; a plain function and its context, so that copying allocates nothing.
  IsDead is_dead_;
  void* context_;
  Waits waits_;
};

// One process's view of the lock. It keeps no state, so threads may share it.
class HolderLock {
 public:
  // `id`: below 2^32 - 1; this process's, or one that represents it. `word` and the context of `is_dead` outlive the
  // lock.
  HolderLock(std::uint32_t& word, std::uint32_t id, HolderDeathTest is_dead)
      : word_(&word), mine_(id + 1), is_dead_(is_dead) {
    MARGAY_ASSERT(mine_ != 0);  // 0 is a free lock
  }

  // How the lock was obtained. taken_over: from a dead holder, so the guarded data may be half updated.
  enum class Entry : std::uint8_t { free, taken_over };
  // Waits until the lock is this process's. Not recursive.
  Entry enter() {
    std::uint32_t seen = 0;
    // Acquire: pairs with the release in leave(); without it we could read the state before the last holder's changes.
    // Relaxed on failure: no other data is read because of it.
    if (std::atomic_ref<std::uint32_t>(*word_).compare_exchange_strong(seen, mine_, std::memory_order_acquire,
                                                                       std::memory_order_relaxed)) [[likely]] {
      return Entry::free;
    }
    return enter_slowly();
  }
  // Frees the lock. Requires: this process has entered.
  void leave() {
    // Release: pairs with the acquire in enter(): what was done inside is seen by the next to enter. A plain store
    // suffices, because the word is never taken from a live holder.
    std::atomic_ref<std::uint32_t>(*word_).store(0, std::memory_order_release);
  }

 private:
  // The path of a lock that is not free: spins, yields, naps, and tests now and then whether the holder is dead.
  Entry enter_slowly();
  // One attempt; see holder_lock.cpp.
  [[nodiscard]] bool try_enter(std::uint32_t& seen, bool test_holder, Entry& entry);

  // In memory that processes share.
  std::uint32_t* word_;
  // The content of the word while this process holds the lock: its id + 1.
  std::uint32_t mine_;
  // The caller's test for a dead holder.
  HolderDeathTest is_dead_;
};

}  // namespace margay::sim
