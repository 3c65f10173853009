#include "sim/shm/holder_lock.hpp"

#include <sched.h>

#include <algorithm>
#include <ctime>

#include "sim/shm/barrier.hpp"

namespace margay::sim {
namespace {

// Pauses of some 15 ns, together longer than a stay in the lock. A holder that is still inside after them is dead, or
// has lost its processor and may need ours. Its death is tested rarely, because the test may be a system call.
constexpr std::uint32_t kPausesForAStay = 100;
constexpr std::uint32_t kTurnsBetweenQuestions = 16;
// Yields for one holder until it is assumed to be stopped.
constexpr std::uint32_t kTurnsAwake = 256;
constexpr std::uint64_t kFirstNapNs = 20'000;
constexpr std::uint64_t kLongestNapNs = 1'000'000;

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// Naps that grow, and the time since the first one.
class Naps {
 public:
  // Naps; returns the time since the first nap began.
  std::uint64_t nap() {
    if (begun_ns_ == 0) begun_ns_ = now_ns();
    const timespec time{0, static_cast<long>(next_ns_)};
    ::nanosleep(&time, nullptr);
    next_ns_ = std::min(2 * next_ns_, kLongestNapNs);
    return now_ns() - begun_ns_;
  }
  [[nodiscard]] bool any() const { return begun_ns_ != 0; }

 private:
  std::uint64_t begun_ns_ = 0;
  std::uint64_t next_ns_ = kFirstNapNs;
};

}  // namespace

// Tries once. `seen`: the holder's word, if not ours; 0: it was free a moment ago. `test_holder`: test whether the
// holder is dead.
bool HolderLock::try_enter(std::uint32_t& seen, bool test_holder, Entry& entry) {
  std::atomic_ref<std::uint32_t> word(*word_);
  // Relaxed: a look that decides nothing; the exchanges below verify it.
  seen = word.load(std::memory_order_relaxed);
  // Acquire: as in enter(), see there.
  if (seen == 0 && word.compare_exchange_strong(seen, mine_, std::memory_order_acquire, std::memory_order_relaxed)) {
    entry = Entry::free;
    return true;
  }
  if (seen == 0 || !test_holder || !is_dead_(seen - 1)) return false;
  // Acquire: the dead one's exchange continued the release sequence of the last leave(), with which this pairs. The
  // dead one's own stores are visible because it is dead: a process ends between two instructions, and the operating
  // system, which reported the end, ordered all its stores before the report.
  entry = Entry::taken_over;
  return word.compare_exchange_strong(seen, mine_, std::memory_order_acquire, std::memory_order_relaxed);
}

HolderLock::Entry HolderLock::enter_slowly() {
  Entry entry = Entry::free;
  Naps naps;
  std::uint32_t holder = 0;
  for (std::uint32_t pauses = 0, turns = 0;;) {
    std::uint32_t seen = 0;
    const bool patient = pauses >= kPausesForAStay;
    if (try_enter(seen, patient && (turns % kTurnsBetweenQuestions == 0 || turns >= kTurnsAwake), entry)) break;
    if (!patient) {
      ++pauses;
      spin_pause();
      continue;
    }
    // The previous holder has left, so it was not stopped.
    if (seen == 0 || seen != holder) {
      turns = 0;
      if (naps.any()) is_dead_.waits(holder - 1, 0);
      naps = Naps();
    }
    holder = seen;
    if (turns < kTurnsAwake) {
      ++turns;
      ::sched_yield();
    } else {
      is_dead_.waits(holder - 1, naps.nap());
    }
  }
  if (naps.any()) is_dead_.waits(holder - 1, 0);
  return entry;
}

}  // namespace margay::sim
