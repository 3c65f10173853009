// Company: other ranks of the job that need the processor of a rank that waits. Such a rank gives its processor up, for
// the rank that it waits for may be one of them; a rank without company spins, because beside other programs a
// processor that is given up comes back only after a turn of each of them.
#pragma once

#include <cstdint>

#include "sim/base/clock.hpp"
#include "sim/base/processors.hpp"
#include "sim/shm/rank_processors.hpp"

namespace margay::sim {

// The owner's, under the process lock.
class Company {
 public:
  // Both outlive this object.
  Company(RankProcessors& ranks, const Scheduler& scheduler) : ranks_(ranks), scheduler_(scheduler) {}

  // What the last look found. A rank that has found company looks in each round.
  [[nodiscard]] bool found() const { return found_; }
  // Publishes the processor of the calling thread, and looks who else needs it.
  void look() {
    processor_ = scheduler_.processor();
    ranks_.runs_on(processor_);
    other_ = ranks_.other_on(processor_);
    found_ = other_ != RankProcessors::kNobody;
  }
  // The rank sleeps, or leaves the job; until the next look().
  void away() {
    ranks_.needs_none();
    found_ = false;
  }

  // This rank has given its processor up once more. Now and then one of two ranks that stay on one processor leaves it,
  // if there is another one without a rank: the scheduler counts runnable threads, and so is content with two ranks on
  // one processor and two other programs on the next.
  void gave_way(const Clock& clock) {
    if (++times_ % kTimesToPart == 0) part(clock);
  }

 private:
  // Some 100 us of two ranks that answer each other at once.
  static constexpr std::uint32_t kTimesToPart = 64;
  // A move costs tens of microseconds, and the scheduler may have reasons to take it back.
  static constexpr std::uint64_t kPartAtMostEachNs = 10'000'000;

  void part(const Clock& clock);

  RankProcessors& ranks_;
  const Scheduler& scheduler_;
  bool found_ = false;
  std::uint32_t processor_ = 0;
  std::size_t other_ = RankProcessors::kNobody;
  std::uint32_t times_ = 0;
  std::uint64_t parted_ns_ = 0;
};

}  // namespace margay::sim
