// Company: other ranks of the job that need the processor of a rank that waits. Such a rank gives its processor up, for
// the rank that it waits for may be one of them; a rank without company spins, because beside other programs a
// processor that is given up comes back only after a turn of each of them.
#pragma once

#include <cstdint>

#include "sim/base/processors.hpp"
#include "sim/shm/rank_processors.hpp"

namespace margay::sim {

// The owner's, under the process lock.
class Company {
 public:
  // Both outlive this object.
  Company(RankProcessors& ranks, const Scheduler& scheduler) : ranks_(ranks), scheduler_(scheduler) {}

  // What the last look found: `ranks` need this processor, or they and other programs.
  enum class Found : std::uint8_t { nobody, ranks, ranks_and_others };
  [[nodiscard]] Found found() const { return found_; }
  // Publishes the processor of the calling thread, and looks who else needs it.
  void look() {
    processor_ = scheduler_.processor();
    ranks_.runs_on(processor_);
    other_ = ranks_.other_on(processor_);
    found_ = other_ == RankProcessors::kNobody ? Found::nobody
             : others_until_ns_ != 0           ? Found::ranks_and_others
                                               : Found::ranks;
  }
  // The rank sleeps for long, or leaves the job; until the next look().
  void away() {
    ranks_.needs_none();
    found_ = Found::nobody;
  }

  // This rank gave its processor up for a yield from `before_ns` until `now_ns`, or slept.
  void yielded(std::uint64_t before_ns, std::uint64_t now_ns) {
    if (now_ns - before_ns >= kTurnNs) others_until_ns_ = now_ns + kBelievedNs;
    gave_way(now_ns);
  }
  void slept(std::uint64_t now_ns) {
    if (now_ns >= others_until_ns_) others_until_ns_ = 0;
    gave_way(now_ns);
  }

 private:
  // A yield that takes this long gave the processor to another program, or to a rank that computes: one that finds
  // nobody, or a rank that waits, takes some microseconds.
  static constexpr std::uint64_t kTurnNs = 100'000;
  // How long that is believed: a yield beside other programs costs a turn of each of them.
  static constexpr std::uint64_t kBelievedNs = 1'000'000'000;
  // Some 100 us of two ranks that answer each other at once.
  static constexpr std::uint32_t kTimesToPart = 64;
  // A move costs tens of microseconds, and the scheduler may have reasons to take it back.
  static constexpr std::uint64_t kPartAtMostEachNs = 10'000'000;

  // Now and then one of two ranks that stay on one processor leaves it, if there is another one without a rank: the
  // scheduler counts runnable threads, and so is content with two ranks on one processor and two other programs on the
  // next.
  void gave_way(std::uint64_t now_ns) {
    if (++times_ % kTimesToPart == 0) part(now_ns);
  }
  void part(std::uint64_t now_ns);

  RankProcessors& ranks_;
  const Scheduler& scheduler_;
  Found found_ = Found::nobody;
  std::uint32_t processor_ = 0;
  std::size_t other_ = RankProcessors::kNobody;
  std::uint64_t others_until_ns_ = 0;  // 0: no other programs are known of
  std::uint32_t times_ = 0;
  std::uint64_t parted_ns_ = 0;
};

}  // namespace margay::sim
