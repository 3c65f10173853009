// Tests of a wire's interval: fixed ones, the adaptive one's rule and bounds, and its convergence on counts.
#include "sim/kernel/poll_interval.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <tuple>
#include <utility>

namespace margay::sim {
namespace {

constexpr PollSetting kAdaptive{PollMode::adaptive, 1};

// An adaptive interval with a poll of `cost` rounds of 10 ns.
PollInterval with_cost(double cost) {
  PollInterval interval;
  interval.set(kAdaptive);
  interval.record_round(10);
  interval.record_cost(10 * cost);
  return interval;
}

TEST_CASE("poll interval: a fixed one never changes") {
  PollInterval interval;
  CHECK(interval.rounds() == 1);
  interval.set({PollMode::fixed, 20});
  interval.record_round(10);
  interval.record_cost(10'000);
  CHECK_FALSE(interval.choose(1'000'000));
  CHECK(interval.rounds() == 20);
  CHECK_FALSE(interval.adaptive());
}

TEST_CASE("poll interval: an adaptive one waits for the cost, then follows cost and messages of other wires") {
  PollInterval unmeasured;
  unmeasured.set(kAdaptive);
  CHECK_FALSE(unmeasured.choose(1'000'000));
  CHECK(unmeasured.rounds() == PollInterval::kLeast);
  struct Row {
    double cost;           // rounds
    std::uint64_t others;  // messages of other wires for each of this one
    std::uint32_t rounds;
  };
  // cost * sqrt(others), as a power of 2, within 8 and 64 times the cost.
  for (const Row& row : {Row{30, 0, 8}, Row{30, 1, 16}, Row{30, 100, 256}, Row{30, 1'000'000'000, 1024}, Row{1, 100, 8},
                         Row{1, 1'000'000, 64}, Row{0.1, 1'000'000, 8}, Row{1000, 4, 1024}, Row{1000, 10'000, 32768}}) {
    CAPTURE(row.cost);
    CAPTURE(row.others);
    PollInterval interval = with_cost(row.cost);
    CHECK(interval.choose(row.others) == (row.rounds != PollInterval::kLeast));
    CHECK(interval.rounds() == row.rounds);
    CHECK_FALSE(interval.choose(row.others));  // it is settled
  }
}

TEST_CASE("poll interval: hits shorten it again, a few after a long silence") {
  PollInterval interval = with_cost(30);
  REQUIRE(interval.choose(100'000));
  const std::uint32_t longest = interval.rounds();
  REQUIRE(longest == 1024);
  int hits = 0;
  for (; interval.rounds() > PollInterval::kLeast && hits < 100; ++hits) {
    interval.record_hit(hits == 0 ? 100'000 : 0);
    static_cast<void>(interval.choose(0));
  }
  CHECK(hits <= 25);
  CHECK(interval.rounds() == PollInterval::kLeast);
}

TEST_CASE("poll interval: small changes of the traffic do not change it") {
  PollInterval interval = with_cost(30);
  REQUIRE(interval.choose(100));
  int changes = 0;
  for (std::uint64_t i = 0; i < 100; ++i) changes += interval.choose(i % 2 == 0 ? 80 : 120) ? 1 : 0;
  CHECK(changes == 0);
}

TEST_CASE("poll interval: computation between the rounds of most measurements does not shorten it") {
  PollInterval interval = with_cost(30);
  for (int i = 0; i < 200; ++i) {
    interval.record_round(i % 16 == 0 ? 10 : 1000);
    static_cast<void>(interval.choose(100));
  }
  CHECK(interval.rounds() == 256);
}

TEST_CASE("poll interval: one interrupted measurement counts little") {
  PollInterval interval = with_cost(30);
  REQUIRE(interval.choose(100));
  const std::uint32_t before = interval.rounds();
  interval.record_cost(10'000'000);
  static_cast<void>(interval.choose(100));
  CHECK(interval.rounds() == before);
  CHECK(interval.cost_ns() < 500);
}

// A process with a fast wire that brings a message in each `fast`-th round, and a slow one in each `slow`-th: the
// interval settles, and polls far less often than one in eight where the slow wire is silent.
TEST_CASE("poll interval: it converges, and a silent wire is polled seldom") {
  struct Row {
    std::uint32_t fast, slow, least, most;
  };
  for (const Row& row : {Row{10, 0, 512, 2048}, Row{10, 10, 16, 64}, Row{0, 10, 8, 8}, Row{10, 1000, 128, 512}}) {
    const std::uint32_t fast = row.fast, slow = row.slow;
    CAPTURE(fast);
    CAPTURE(slow);
    PollInterval interval = with_cost(30);
    std::uint64_t others = 0, arrived = 0, polls = 0;
    std::uint32_t left = 0;
    for (std::uint32_t round = 1; round <= 1'000'000; ++round) {
      if (fast != 0 && round % fast == 0) ++others;
      if (slow != 0 && round % slow == 0) ++arrived;
      if (left != 0) {
        --left;
        continue;
      }
      ++polls;
      if (arrived != 0) interval.record_hit(std::exchange(others, 0));
      arrived = 0;
      static_cast<void>(interval.choose(others));
      left = interval.rounds() - 1;
    }
    CHECK(interval.rounds() >= row.least);
    CHECK(interval.rounds() <= row.most);
    if (slow == 0) CHECK(polls < 1'000'000 / 256);
  }
}

}  // namespace
}  // namespace margay::sim
