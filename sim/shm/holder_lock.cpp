#include "sim/shm/holder_lock.hpp"

#include <sched.h>

#include "sim/shm/barrier.hpp"

namespace margay::sim {
namespace {

// Pauses of some 15 ns: longer than a stay, so a holder that is still there has lost its processor. It needs ours then,
// or it is dead, which is asked seldom: the answer may be a system call.
constexpr std::uint32_t kPausesForAStay = 100;
constexpr std::uint32_t kTurnsBetweenQuestions = 16;

}  // namespace

HolderLock::Entry HolderLock::enter_slowly() {
  std::atomic_ref<std::uint32_t> word(*word_);
  for (std::uint32_t tries = 0;; ++tries) {
    // Relaxed: a look that decides nothing; the exchanges below say whether it still holds.
    std::uint32_t seen = word.load(std::memory_order_relaxed);
    // Acquire: as in enter(), see there.
    if (seen == 0 && word.compare_exchange_strong(seen, mine_, std::memory_order_acquire, std::memory_order_relaxed)) {
      return Entry::free;
    }
    if (tries < kPausesForAStay) {
      spin_pause();
      continue;
    }
    if (seen != 0 && (tries - kPausesForAStay) % kTurnsBetweenQuestions == 0 && gone_(seen - 1)) {
      // Acquire: the dead one's exchange continued the release sequence of the last leave(), with which this pairs.
      // What the dead one stored itself is there since it is dead: a process ends between two instructions, and the
      // kernel that told us of it ordered all earlier ones before.
      if (word.compare_exchange_strong(seen, mine_, std::memory_order_acquire, std::memory_order_relaxed)) {
        return Entry::taken_over;
      }
    }
    ::sched_yield();
  }
}

}  // namespace margay::sim
