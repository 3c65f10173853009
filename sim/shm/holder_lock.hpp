// A spin lock of one word in memory that processes share. The word names the holder, so that a waiter can ask whether
// the holder is dead and take the lock over. For critical sections of a few instructions; not fair.
//
// A waiter yields first, in case the holder needs its processor, and then sleeps in naps of up to a millisecond,
// because the holder may be stopped. leave() wakes no waiter, and so costs a store.
//
// Invariants
//  1. The word is 0 (free), or the holder's id + 1. Only who put its id there takes it away, or one that was told that
//     it is gone.
//  2. Who takes over finds what was guarded as a death left it: between any two stores of the one that died.
//  3. Of several that take over from the same holder one succeeds: an id that is gone never comes back.
#pragma once

#include <atomic>
#include <cstdint>

#include "portals/base/assert.hpp"

namespace margay::sim {

// Asks the caller whether the holder `id` is gone: dead, or nobody's id at all. Who answers no for an id that nobody
// has waits for ever where memory was damaged. A yes is final, and means that nothing more is stored by that process.
class HolderGone {
 public:
  using Ask = bool (*)(void* context, std::uint32_t id);
  // Called while a waiter sleeps for the holder `id`: how long it has waited by now; 0: the wait is over.
  using Waits = void (*)(void* context, std::uint32_t id, std::uint64_t waited_ns);
  HolderGone(Ask ask, void* context, Waits while_waiting = nullptr)
      : ask_(ask), context_(context), waits_(while_waiting) {}
  [[nodiscard]] bool operator()(std::uint32_t id) const { return ask_(context_, id); }
  void waits(std::uint32_t id, std::uint64_t waited_ns) const {
    if (waits_ != nullptr) waits_(context_, id, waited_ns);
  }

 private:
  Ask ask_;
  void* context_;
  Waits waits_;
};

// One process's view of it; keeps no state, so threads may share it.
class HolderLock {
 public:
  // `id`: below 2^32 - 1; this process's, or one that stands for it. `word` and what `gone` needs outlive the lock.
  HolderLock(std::uint32_t& word, std::uint32_t id, HolderGone gone) : word_(&word), mine_(id + 1), gone_(gone) {
    MARGAY_ASSERT(mine_ != 0);  // 0 is a free lock
  }

  enum class Entry : std::uint8_t { free, taken_over };
  // Until it is this one's. taken_over: from a holder that is gone; what it guards may be half done.
  Entry enter() {
    std::uint32_t seen = 0;
    // Acquire: pairs with the release in leave(); without it we could read what the last holder found, not what it
    // left. Relaxed on failure: nothing is read on the strength of it.
    if (std::atomic_ref<std::uint32_t>(*word_).compare_exchange_strong(seen, mine_, std::memory_order_acquire,
                                                                       std::memory_order_relaxed)) [[likely]] {
      return Entry::free;
    }
    return enter_slowly();
  }
  // Requires: enter() returned, to this process.
  void leave() {
    // Release: pairs with the acquire in enter(); what was done inside is seen by whoever enters next. A plain store is
    // enough: nobody takes the word from one that lives.
    std::atomic_ref<std::uint32_t>(*word_).store(0, std::memory_order_release);
  }

 private:
  Entry enter_slowly();
  [[nodiscard]] bool try_enter(std::uint32_t& seen, bool asks, Entry& entry);

  std::uint32_t* word_;
  std::uint32_t mine_;
  HolderGone gone_;
};

}  // namespace margay::sim
