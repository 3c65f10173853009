#include "libraries/zipcode/queues.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

namespace margay::zipcode::core {

namespace {

struct Waiting {
  int number = 0;
  bool is_over = false;
};

struct Came {
  std::uint64_t arrival = 0;
  int tag = 0;
};

// The tags of a queue, in which sources 0 to 2 of contexts 4 and 6 have 1000 items each, by turns.
constexpr int kEach = 1000;
ArrivalQueues<Came> backlog() {
  ArrivalQueues<Came> queues;
  std::uint64_t arrival = 0;
  for (int tag = 0; tag < kEach; ++tag) {
    for (const std::uint16_t context : {std::uint16_t{4}, std::uint16_t{6}}) {
      for (const portals::Rank source : {2U, 0U, 1U}) queues.add(context, source, {arrival++, tag});
    }
  }
  return queues;
}

}  // namespace

TEST_CASE("A sweep tests one waiting item of each destination, and removes those in front of it") {
  SendQueues<Waiting> queues;
  std::vector<Waiting*> added;
  for (int i = 0; i < 3000; ++i) {
    added.push_back(&queues.add(static_cast<portals::Rank>(i % 3)));
    added.back()->number = i;
  }
  int tests = 0;
  std::vector<int> over;
  const auto is_over = [&](const Waiting& each) {
    ++tests;
    if (each.is_over) over.push_back(each.number);
    return each.is_over;
  };
  queues.sweep(is_over);
  CHECK(tests == 3);
  // The items have not moved. Two of one destination are over, and one of another that is behind one that is not.
  for (const int i : {1, 4, 5}) added[static_cast<std::size_t>(i)]->is_over = true;
  queues.sweep(is_over);
  CHECK(over == std::vector<int>{1, 4});
  CHECK(tests == 3 + 5);
  for (int i = 0; i < 3000; ++i) {
    if (i != 1 && i != 4) added[static_cast<std::size_t>(i)]->is_over = true;
  }
  CHECK_FALSE(queues.empty());
  queues.sweep(is_over);
  CHECK(queues.empty());
}

TEST_CASE("An arrived item is found without a visit to those of other contexts and sources") {
  ArrivalQueues<Came> queues = backlog();
  int visits = 0;
  const auto any = [&](const Came&) {
    ++visits;
    return true;
  };
  struct Row {
    std::uint16_t context;
    portals::Rank source;
    int visits;
    std::uint64_t arrival;
  };
  // Arrivals count contexts 4, 6 and in each sources 2, 0, 1.
  const std::array<Row, 5> rows{
      {{4, 0, 1, 1}, {6, 1, 1, 5}, {6, 2, 1, 3}, {4, portals::kAnyRank, 3, 0}, {6, portals::kAnyRank, 3, 3}}};
  for (const Row& row : rows) {
    visits = 0;
    const auto found = queues.find(row.context, row.source, any);
    REQUIRE(found.has_value());
    CHECK(found->item->arrival == row.arrival);
    CHECK(visits == row.visits);
  }
  for (const std::uint16_t context : {std::uint16_t{3}, std::uint16_t{5}, std::uint16_t{7}})
    CHECK_FALSE(queues.find(context, portals::kAnyRank, any).has_value());
  CHECK_FALSE(queues.find(4, 3, any).has_value());
}

TEST_CASE("Arrived items leave in any order, and those of a context at once") {
  ArrivalQueues<Came> queues = backlog();
  const auto last = queues.find(4, 1, [](const Came& each) { return each.tag == kEach - 1; });
  REQUIRE(last.has_value());
  queues.erase(*last);
  CHECK_FALSE(queues.find(4, 1, [](const Came& each) { return each.tag == kEach - 1; }).has_value());
  for (int tag = 0; tag < kEach; ++tag) {
    const auto first = queues.find(6, 2, [](const Came&) { return true; });
    REQUIRE(first.has_value());
    CHECK(first->item->tag == tag);
    queues.erase(*first);
  }
  CHECK_FALSE(queues.find(6, 2, [](const Came&) { return true; }).has_value());
  int left = 0;
  queues.for_each([&](const Came&) { ++left; });
  CHECK(left == 5 * kEach - 1);
  queues.remove_if([](const Came& each) { return each.tag % 2 == 0; });
  left = 0;
  queues.for_each([&](const Came& each) { left += each.tag % 2 == 1 ? 1 : 1000000; });
  CHECK(left == 5 * kEach / 2 - 1);
}

}  // namespace margay::zipcode::core
