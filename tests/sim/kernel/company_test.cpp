// Tests of the yield policy: how a rank that waits, or polls in a loop, shares processors with other ranks and with
// other programs. The test provides the clock, the scheduler and the table of the ranks' processors.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "sim/base/clock.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/kernel/waiter.hpp"
#include "sim/wire/self_wire.hpp"

namespace margay::sim::test {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

class TestScheduler final : public Scheduler {
 public:
  [[nodiscard]] std::uint32_t processor() const override { return now; }
  [[nodiscard]] std::vector<std::uint32_t> allowed() const override { return may; }
  void move_to(std::uint32_t processor) const override {
    now = processor;
    ++moves;
  }
  mutable std::uint32_t now = 0;
  mutable int moves = 0;
  std::vector<std::uint32_t> may{0, 1};
};

// A yield policy on the virtual clock. A yield takes the length of another program's turn, `turn_ns`; a sleep takes its
// own time. Counts both.
class TurnsPolicy final : public YieldPolicy {
 public:
  explicit TurnsPolicy(VirtualClock& clock) : clock_(clock) {}
  void yield(std::uint64_t ns) override {
    clock_.advance_ns(ns != 0 ? ns : turn_ns);
    yields += ns == 0 ? 1 : 0;
    naps += ns != 0 ? 1 : 0;
    longest_nap_ns = std::max(longest_nap_ns, ns);
    if (ns != 0 && word != nullptr) seen_in_naps = seen_in_naps && *word != 0;
  }
  const std::uint32_t* word = nullptr;  // the published processor of the sleeping rank
  bool seen_in_naps = true;
  std::uint64_t turn_ns = 1'000;
  std::uint64_t longest_nap_ns = 0;
  int yields = 0;
  int naps = 0;

 private:
  VirtualClock& clock_;
};

// A rank with its waits, number 1 of three in the table of processors.
struct Rank {
  // Runs `count` empty rounds, each of `ns`. Every 256th, in which the wait reads the clock, takes `turn_ns` longer:
  // the turn of another program.
  void rounds(Waiter& waiter, int count, std::uint64_t ns, std::uint64_t turn_ns = 0) {
    for (int i = 1; i <= count; ++i) {
      clock.advance_ns(i % 256 == 0 ? ns + turn_ns : ns);
      waiter.idle();
    }
  }
  // Makes `count` empty polls, as MPI_Test does, with `work_ns` of work before each poll.
  void polls(int count, std::uint64_t work_ns) {
    for (int i = 0; i < count; ++i) {
      clock.advance_ns(work_ns);
      streak.begin(clock);
      streak.found_nothing(kernel, clock, means);
    }
  }
  void other_runs_on(std::size_t rank, std::uint32_t processor) {
    RankProcessors({&words[0], &words[1], &words[2]}, rank).runs_on(processor);
  }

  VirtualClock clock{kMs};
  TurnsPolicy rest{clock};
  TransmissionList finished;
  SelfWire wire{{0, 0}, finished};
  Recorder recorder{clock};
  Kernel kernel{{0, 0}, {{&wire}}, finished, recorder};
  std::array<std::uint32_t, 3> words{};
  RankProcessors ranks{{&words[0], &words[1], &words[2]}, 1};
  TestScheduler scheduler;
  Company company{ranks, scheduler};
  WaitMeans means{.policy = WaitPolicy::automatic, .reason = {}, .yield_policy = &rest, .company = &company};
  PollStreak streak;
};

TEST_CASE("wait_step depends on policy, company and patience") {
  using Found = Company::Found;
  struct Row {
    WaitPolicy policy;
    Found company;
    bool nudged;
    std::uint64_t idle_ns;
    WaitStep step;
  };
  for (const Row& row : {
           Row{WaitPolicy::automatic, Found::none, false, 0, WaitStep::spin},
           Row{WaitPolicy::automatic, Found::none, false, 19 * kMs, WaitStep::spin},
           Row{WaitPolicy::automatic, Found::none, true, kMs, WaitStep::yield},
           Row{WaitPolicy::automatic, Found::none, false, 20 * kMs, WaitStep::sleep},
           Row{WaitPolicy::automatic, Found::ranks, false, 0, WaitStep::yield},
           Row{WaitPolicy::automatic, Found::ranks, true, 20 * kMs, WaitStep::sleep},
           Row{WaitPolicy::automatic, Found::ranks_and_others, false, 0, WaitStep::sleep},
           Row{WaitPolicy::spin, Found::ranks, false, 0, WaitStep::spin},
           Row{WaitPolicy::spin, Found::ranks_and_others, true, kMs, WaitStep::yield},
           Row{WaitPolicy::spin, Found::none, false, 20 * kMs, WaitStep::sleep},
           Row{WaitPolicy::yield, Found::none, false, 0, WaitStep::yield},
           Row{WaitPolicy::yield, Found::ranks_and_others, false, 0, WaitStep::yield},
           Row{WaitPolicy::yield, Found::none, false, 20 * kMs, WaitStep::sleep},
       }) {
    CAPTURE(static_cast<int>(row.policy));
    CAPTURE(static_cast<int>(row.company));
    CAPTURE(row.nudged);
    CAPTURE(row.idle_ns);
    CHECK(wait_step(row.policy, row.company, row.nudged, row.idle_ns) == row.step);
  }
}

TEST_CASE("rank processors: others are seen while they need a processor, and a rank does not see itself") {
  Rank rank;
  rank.ranks.runs_on(0);
  CHECK_EQ(rank.ranks.other_on(0), RankProcessors::kNoRank);
  rank.other_runs_on(0, 0);
  CHECK_EQ(rank.ranks.other_on(0), 0);
  CHECK_EQ(rank.ranks.other_on(1), RankProcessors::kNoRank);
  rank.other_runs_on(2, 0);
  CHECK_EQ(rank.ranks.other_on(0), 2);
  rank.words[2] = rank.words[0] = 0;
  CHECK_EQ(rank.ranks.other_on(0), RankProcessors::kNoRank);
  rank.ranks.needs_none();
  CHECK_EQ(rank.words[1], 0);
}

TEST_CASE("a wait keeps its processor beside other programs, and does not sleep for their turns") {
  Rank rank;
  rank.other_runs_on(0, 1);
  Waiter waiter(rank.kernel, rank.clock, rank.means);
  // 135 ms of the clock are 15 turns of other programs, and only 3 ms are this rank's own idle time.
  rank.rounds(waiter, 15 * 256, 800, 9 * kMs);
  CHECK_EQ(rank.rest.yields, 0);
  CHECK_EQ(rank.rest.naps, 0);
  CHECK_GT(waiter.idle_ns(), 100 * kMs);  // stall reports use all of the time
  rank.rounds(waiter, 60 * 256, 8000);
  CHECK_GT(rank.rest.naps, 0);
}

TEST_CASE("a wait in company yields in each round, also in the waits after it, until the other has left") {
  Rank rank;
  rank.other_runs_on(2, 0);
  for (int wait = 0; wait < 3; ++wait) {
    Waiter waiter(rank.kernel, rank.clock, rank.means);
    const int before = rank.rest.yields;
    rank.rounds(waiter, 1000, 10);
    CHECK_GE(rank.rest.yields - before, wait == 0 ? 1000 - 256 : 999);
  }
  rank.other_runs_on(2, 1);
  Waiter waiter(rank.kernel, rank.clock, rank.means);
  const int before = rank.rest.yields;
  rank.rounds(waiter, 1000, 10);
  CHECK_LE(rank.rest.yields - before, 1);
  CHECK_EQ(rank.scheduler.moves, 0);  // the other rank has the higher number, so it has to move
}

TEST_CASE("a rank that waits for unseen processes yields as in company, and does not move") {
  Rank rank;
  rank.other_runs_on(2, 1);
  {
    const Company::Unseen one(&rank.company);
    const Company::Unseen none(nullptr);
    {
      const Company::Unseen more(&rank.company);
      Waiter waiter(rank.kernel, rank.clock, rank.means);
      rank.rounds(waiter, 2000, 10);
      CHECK_GE(rank.rest.yields, 2000 - 256);
    }
    rank.company.update();
    CHECK(rank.company.found() == Company::Found::ranks);
    rank.rest.turn_ns = 3 * kMs;
    Waiter waiter(rank.kernel, rank.clock, rank.means);
    rank.rounds(waiter, 10, 10);
    CHECK_GE(rank.rest.naps, 1);
  }
  CHECK_EQ(rank.scheduler.moves, 0);
  rank.company.update();
  CHECK(rank.company.found() == Company::Found::none);
  rank.rest.yields = 0;
  Waiter waiter(rank.kernel, rank.clock, rank.means);
  rank.rounds(waiter, 2000, 10);
  CHECK_EQ(rank.rest.yields, 0);
}

TEST_CASE("of two ranks on one processor the one with the higher number leaves, for one without a rank") {
  Rank rank;
  rank.other_runs_on(0, 0);
  Waiter waiter(rank.kernel, rank.clock, rank.means);
  SUBCASE("one is free") {
    rank.rounds(waiter, 2000, 10);
    CHECK_EQ(rank.scheduler.moves, 1);
    CHECK_EQ(rank.scheduler.now, 1);
    CHECK_EQ(rank.words[1], 2);
    const int yields = rank.rest.yields;
    rank.rounds(waiter, 2000, 10);
    CHECK_LE(rank.rest.yields, yields + 1);
  }
  SUBCASE("a third rank runs on the other one") {
    rank.other_runs_on(2, 1);
    rank.rounds(waiter, 2000, 10);
    CHECK_EQ(rank.scheduler.moves, 0);
  }
  SUBCASE("this rank may not run there") {
    rank.scheduler.may = {0};
    rank.rounds(waiter, 2000, 10);
    CHECK_EQ(rank.scheduler.moves, 0);
  }
  SUBCASE("the scheduler moves it back: it does not leave at once again") {
    rank.rounds(waiter, 2000, 10);
    rank.scheduler.now = 0;
    rank.rounds(waiter, 1000, 10);  // 1 ms, because each round yields
    CHECK_EQ(rank.scheduler.moves, 1);
    rank.rounds(waiter, 18'000, 10);
    CHECK_EQ(rank.scheduler.moves, 2);
  }
}

TEST_CASE("a rank in a long sleep needs no processor") {
  Rank rank;
  rank.other_runs_on(0, 0);
  class Watch final : public YieldPolicy {
   public:
    explicit Watch(Rank& rank) : rank_(rank) {}
    void yield(std::uint64_t ns) override {
      if (ns != 0) CHECK_EQ(rank_.words[1], 0);
      naps += ns != 0 ? 1 : 0;
      rank_.clock.advance_ns(ns != 0 ? ns : 50'000);
    }
    int naps = 0;

   private:
    Rank& rank_;
  } counting_policy(rank);
  rank.scheduler.may = {0};
  rank.means.yield_policy = &counting_policy;
  Waiter waiter(rank.kernel, rank.clock, rank.means);
  rank.rounds(waiter, 2000, 10);
  CHECK_GT(counting_policy.naps, 0);
  CHECK_EQ(rank.words[1], 1);
}

TEST_CASE("a wait in company beside other programs sleeps, and its company still sees it") {
  Rank rank;
  rank.other_runs_on(2, 0);
  rank.rest.turn_ns = 3 * kMs;
  rank.rest.word = &rank.words[1];
  {
    Waiter waiter(rank.kernel, rank.clock, rank.means);
    rank.rounds(waiter, 256 + 10, 10);
    CHECK_EQ(rank.rest.yields, 1);
    CHECK_GE(rank.rest.naps, 1);
    CHECK(rank.rest.seen_in_naps);
  }
  // The next waits sleep at once, without another yield.
  Waiter next(rank.kernel, rank.clock, rank.means);
  rank.rounds(next, 4, 10);
  CHECK_EQ(rank.rest.yields, 1);
  // 3 s later a wait tests by a yield whether the other programs have left.
  rank.clock.advance_ns(3'000 * kMs);
  rank.rest.turn_ns = 1'000;
  const int naps = rank.rest.naps;
  Waiter later(rank.kernel, rank.clock, rank.means);
  rank.rounds(later, 100, 10);
  CHECK_LE(rank.rest.naps, naps + 1);
  CHECK_GT(rank.rest.yields, 50);
}

TEST_CASE("a loop of polls yields its processor as a wait does, and sleeps only briefly") {
  Rank rank;
  SUBCASE("in company") {
    rank.other_runs_on(2, 0);
    rank.polls(10'000, 50);
    CHECK_GT(rank.rest.yields, 10'000 / PollStreak::kPollsPerMeasure - 10);
  }
  SUBCASE("in company that has left") {
    rank.other_runs_on(2, 0);
    rank.polls(1'000, 50);
    rank.other_runs_on(2, 1);
    rank.rest.yields = 0;
    rank.polls(10'000, 50);
    CHECK_EQ(rank.rest.yields, 0);
  }
  SUBCASE("alone on its processor") {
    rank.other_runs_on(2, 1);
    rank.polls(10'000, 50);
    CHECK_EQ(rank.rest.yields, 0);
  }
  SUBCASE("in company beside other programs") {
    rank.other_runs_on(2, 0);
    rank.rest.turn_ns = 3 * kMs;
    rank.polls(1'000, 50);
    CHECK_LE(rank.rest.yields, 2);
    CHECK_GT(rank.rest.naps, 50);
    CHECK_LT(rank.rest.longest_nap_ns, kMs);
    rank.rest.naps = 0;
  }
  SUBCASE("with the policy yield") {
    rank.means.policy = WaitPolicy::yield;
    rank.polls(10'000, 50);
    CHECK_GT(rank.rest.yields, 10'000 / PollStreak::kPollsPerMeasure - 10);
  }
  SUBCASE("in a virtual machine, whose time advances by yields") {
    rank.means.policy = WaitPolicy::yield;
    rank.means.company = nullptr;
    rank.polls(10'000, 300);
    CHECK_EQ(rank.rest.yields, 10'000);
  }
  SUBCASE("with the policy spin") {
    rank.other_runs_on(2, 0);
    rank.means.policy = WaitPolicy::spin;
    rank.polls(10'000, 50);
    CHECK_EQ(rank.rest.yields, 0);
  }
  CHECK_EQ(rank.rest.naps, 0);
}

TEST_CASE("a rank that works between its polls keeps its processor, in company too") {
  Rank rank;
  rank.other_runs_on(2, 0);
  SUBCASE("by itself") {}
  SUBCASE("with the policy yield") {
    rank.means.policy = WaitPolicy::yield;
  }
  rank.polls(10'000, 300);
  CHECK_EQ(rank.rest.yields, 0);
  // Polls without work between them count as a wait only after kPollsOfWait of them.
  rank.polls(PollStreak::kPollsOfWait - 2 * PollStreak::kPollsPerMeasure, 50);
  CHECK_EQ(rank.rest.yields, 0);
  rank.polls(2 * PollStreak::kPollsOfWait, 50);
  CHECK_GT(rank.rest.yields, 0);
}

}  // namespace
}  // namespace margay::sim::test
