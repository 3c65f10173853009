// Tests of the order in which ranks of a simulated run continue.
#include "virtual_machine/world/schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace margay::virtual_machine {
namespace {

std::vector<std::uint32_t> take_all(Schedule& schedule) {
  std::vector<std::uint32_t> order;
  while (schedule.next_ns() != kNever) order.push_back(schedule.take());
  return order;
}

TEST_CASE("schedule: ranks continue in the order of their times, and of insertion for equal ones") {
  Schedule schedule(5);
  schedule.add(4, 30);
  schedule.add(0, 20);
  schedule.add(3, 10);
  schedule.add(1, 20);
  CHECK_EQ(schedule.next_ns(), 10);
  CHECK(take_all(schedule) == std::vector<std::uint32_t>{3, 0, 1, 4});
}

TEST_CASE("schedule: a rank is in the queue once, at its earliest time") {
  Schedule schedule(2);
  schedule.add(0, 50);
  schedule.add(1, 40);
  schedule.add(0, 30);  // earlier: replaces 50
  schedule.add(1, 60);  // later: no effect
  CHECK_EQ(schedule.next_ns(), 30);
  CHECK(take_all(schedule) == std::vector<std::uint32_t>{0, 1});
  CHECK_EQ(schedule.next_ns(), kNever);
}

TEST_CASE("schedule: a rank that was taken may be added for a time that it had before") {
  Schedule schedule(1);
  schedule.add(0, 50);
  schedule.add(0, 10);
  CHECK_EQ(schedule.next_ns(), 10);
  CHECK_EQ(schedule.take(), 0);
  CHECK_EQ(schedule.next_ns(), kNever);
  schedule.add(0, 50);
  CHECK(take_all(schedule) == std::vector<std::uint32_t>{0});
}

TEST_CASE("schedule: a seed determines the order of ranks of one time, and only that") {
  constexpr std::uint32_t kRanks = 20;
  const auto order = [](std::uint64_t seed) {
    Schedule schedule(kRanks, seed);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) schedule.add(rank, rank < kRanks / 2 ? 10 : 20);
    return take_all(schedule);
  };
  const std::vector<std::uint32_t> usual = order(0);
  CHECK(std::is_sorted(usual.begin(), usual.end()));
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const std::vector<std::uint32_t> drawn = order(seed);
    CHECK(drawn == order(seed));
    CHECK(std::is_permutation(drawn.begin(), drawn.begin() + kRanks / 2, usual.begin()));
    orders.insert(drawn);
  }
  CHECK_EQ(orders.size(), 10);
}

}  // namespace
}  // namespace margay::virtual_machine
