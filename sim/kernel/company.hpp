// Company: other ranks of the job that need the processor of a waiting rank. A rank in company yields its processor,
// because the rank that it waits for may be one of them. A rank without company spins, because beside other programs a
// yielded processor comes back only after a turn of each of them.
#pragma once

#include <cstdint>

#include "sim/base/processors.hpp"
#include "sim/shm/rank_processors.hpp"

namespace margay::sim {

// One rank's observations of its company. Used by the owner thread, under the process lock.
class Company {
 public:
  // `ranks`, on the job board, shows the processor of each rank. Both arguments outlive this object.
  Company(RankProcessors& ranks, const Scheduler& scheduler) : ranks_(ranks), scheduler_(scheduler) {}

  // The others that needed this processor at the last look(): none; ranks only; or ranks and other programs.
  enum class Found : std::uint8_t { none, ranks, ranks_and_others };
  // Valid until the next look() or away().
  [[nodiscard]] Found found() const { return found_; }
  // Publishes the calling thread's processor, and finds the ranks that need it too.
  void look() {
    processor_ = scheduler_.processor();
    ranks_.runs_on(processor_);
    other_ = ranks_.other_on(processor_);
    found_ = other_ == RankProcessors::kNoRank ? Found::none
             : others_until_ns_ != 0           ? Found::ranks_and_others
                                               : Found::ranks;
  }
  // Withdraws the published processor, because the rank sleeps for long or leaves the job. Valid until the next look().
  void away() {
    ranks_.needs_none();
    found_ = Found::none;
  }

  // Reports that this rank yielded from `before_ns` until `now_ns`, or slept until `now_ns`. The length of a yield
  // shows whether other programs run here.
  void record_yield(std::uint64_t before_ns, std::uint64_t now_ns) {
    if (now_ns - before_ns >= kTurnNs) others_until_ns_ = now_ns + kBelievedNs;
    count_turn(now_ns);
  }
  void record_sleep(std::uint64_t now_ns) {
    if (now_ns >= others_until_ns_) others_until_ns_ = 0;
    count_turn(now_ns);
  }

 private:
  // A yield of this length gave the processor to another program, or to a computing rank. A yield to a waiting rank, or
  // to none, takes some microseconds.
  static constexpr std::uint64_t kTurnNs = 100'000;
  // The time for which other programs are then assumed. A new test costs a turn of each of them.
  static constexpr std::uint64_t kBelievedNs = 1'000'000'000;
  // Yields and sleeps between attempts to move. Two ranks that answer each other at once yield that often in about 100
  // us.
  static constexpr std::uint32_t kYieldsBetweenMoves = 64;
  // The least time between two attempts to move: a move costs tens of microseconds, and the scheduler may have reasons
  // to undo it.
  static constexpr std::uint64_t kMoveIntervalNs = 10'000'000;

  // Counts a yield or a sleep, and at each kYieldsBetweenMoves-th one tries to move this rank to an allowed processor
  // without a rank. The scheduler does not do so, because it balances thread counts: it leaves two ranks on one
  // processor and two other programs on the next.
  void count_turn(std::uint64_t now_ns) {
    if (++times_ % kYieldsBetweenMoves == 0) move_away(now_ns);
  }
  // Moves this rank to an allowed processor without a rank, if there is one, and if its number is higher than that of
  // the other rank here. At most one attempt each kMoveIntervalNs.
  void move_away(std::uint64_t now_ns);

  // Constant after construction.
  RankProcessors& ranks_;
  const Scheduler& scheduler_;
  Found found_ = Found::none;
  // Results of the last look(): this rank's processor, and another rank on it.
  std::uint32_t processor_ = 0;
  std::size_t other_ = RankProcessors::kNoRank;
  // Other programs are assumed here until the first sleep that ends after this time; 0: none are assumed.
  std::uint64_t others_until_ns_ = 0;
  // Yields and sleeps so far.
  std::uint32_t times_ = 0;
  // Time of the last attempt to move.
  std::uint64_t move_tried_ns_ = 0;
};

}  // namespace margay::sim
