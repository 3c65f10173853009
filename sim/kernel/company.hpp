// Company: other ranks that need the processor of a waiting rank. A rank in company yields its processor,
// because it may be waiting for one of these ranks. A rank without company spins, because if it yielded beside other
// programs, it would get the processor back only after a turn of each program.
#pragma once

#include <cstdint>

#include "sim/base/processors.hpp"
#include "sim/shm/rank_processors.hpp"

namespace margay::sim {

// One rank's observations of its company. Used by the owner thread, under the process lock.
class Company {
 public:
  // `ranks`: the published processor of each rank, on the job board or in the node's segment. Both arguments outlive
  // this object.
  Company(RankProcessors& ranks, const Scheduler& scheduler) : ranks_(ranks), scheduler_(scheduler) {}

  // While one exists, a rank counts as in company: it waits for processes that publish no processor here, because they
  // start just now or belong to another job, and these may need this processor. `company`: nullptr has no effect.
  class Unseen {
   public:
    explicit Unseen(Company* company) : company_(company) {
      if (company_ != nullptr) ++company_->unseen_;
    }
    ~Unseen() {
      if (company_ != nullptr) --company_->unseen_;
    }
    Unseen(const Unseen&) = delete;
    Unseen& operator=(const Unseen&) = delete;

   private:
    Company* company_;
  };

  // The others that needed this processor at the last update(): none; other ranks (or Unseen) only; or other ranks and
  // other programs.
  enum class Found : std::uint8_t { none, ranks, ranks_and_others };
  // Valid until the next update() or withdraw().
  [[nodiscard]] Found found() const { return found_; }
  // Publishes the calling thread's processor, and searches for another rank that needs it too.
  void update() {
    processor_ = scheduler_.processor();
    ranks_.runs_on(processor_);
    other_ = ranks_.other_on(processor_);
    found_ = other_ == RankProcessors::kNoRank && unseen_ == 0 ? Found::none
             : others_until_ns_ != 0                           ? Found::ranks_and_others
                                                               : Found::ranks;
  }
  // Withdraws the published processor, because the rank sleeps for long or leaves the job. Valid until the next
  // update().
  void withdraw() {
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
  // A yield of at least this length gave the processor to another program or to a computing rank. A yield that finds
  // only a waiting rank, or no other thread, takes some microseconds.
  static constexpr std::uint64_t kTurnNs = 100'000;
  // The time for which other programs are assumed after such a yield. A new test would cost a turn of each program.
  static constexpr std::uint64_t kBelievedNs = 1'000'000'000;
  // Yields and sleeps between attempts to move. Two ranks that answer each other at once make 64 yields in about 100
  // us.
  static constexpr std::uint32_t kYieldsBetweenMoves = 64;
  // The least time between two attempts to move, because a move costs tens of microseconds, and the scheduler may have
  // reasons to undo it.
  static constexpr std::uint64_t kMoveIntervalNs = 10'000'000;

  // Counts a yield or a sleep; at each kYieldsBetweenMoves-th one, calls move_away(). The scheduler does not move the
  // rank, because it balances thread counts: it leaves two ranks on one processor and two other programs on the next.
  void count_turn(std::uint64_t now_ns) {
    if (++times_ % kYieldsBetweenMoves == 0) move_away(now_ns);
  }
  // Moves this rank to an allowed processor without a rank, if there is one. Only the rank with the higher number
  // moves. At most one attempt each kMoveIntervalNs.
  void move_away(std::uint64_t now_ns);

  // Constant after construction.
  RankProcessors& ranks_;
  const Scheduler& scheduler_;
  Found found_ = Found::none;
  // Results of the last update(): this rank's processor, and another rank on it.
  std::uint32_t processor_ = 0;
  std::size_t other_ = RankProcessors::kNoRank;
  // The number of existing Unseen.
  std::uint32_t unseen_ = 0;
  // Other programs are assumed here until the first sleep that ends after this time; 0: none are assumed.
  std::uint64_t others_until_ns_ = 0;
  // Yields and sleeps so far.
  std::uint32_t times_ = 0;
  // Time of the last attempt to move.
  std::uint64_t move_tried_ns_ = 0;
};

}  // namespace margay::sim
