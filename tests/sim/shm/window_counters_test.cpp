// Tests of the counters of posts and completions: a reader sees all data written before the count, and counters may
// wrap any number of times.
#include "sim/shm/window_counters.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <array>
#include <thread>

#include "tests/support/seeds.hpp"

namespace margay::sim {

TEST_CASE("window counters: each writer has its own, and a value is reached by difference") {
  std::array<std::uint32_t, 3> row{0, 0xffff'ffffU, 5};
  WindowCounters counters(row);
  counters.publish(1);
  CHECK(row == std::array<std::uint32_t, 3>{0, 0, 5});
  CHECK_EQ(counters.count(1), 0);
  CHECK(counters.has_reached(1, 0));
  CHECK(counters.has_reached(1, 0xffff'ffffU));
  CHECK_FALSE(counters.has_reached(1, 1));
  counters.publish(1);
  CHECK(counters.has_reached(1, 1));
  counters.publish(2);
  CHECK(row == std::array<std::uint32_t, 3>{0, 1, 6});
}

// An origin writes and completes; the target reads the data and posts again; the counts wrap during the test.
TEST_CASE("window counters: post and complete pass a window back and forth") {
  const auto epochs = static_cast<std::uint32_t>(testing::of_threads(20'000));
  const std::uint32_t first = 0U - 100;
  std::array<std::uint32_t, 2> posted{0, first};     // the origin's row: by the target, which is member 1
  std::array<std::uint32_t, 2> completed{first, 0};  // the target's row: by the origin
  std::uint64_t element = 0;                         // plain, so the thread sanitizer detects a missing order
  std::thread origin([&] {
    for (std::uint32_t epoch = 1; epoch <= epochs; ++epoch) {
      while (!WindowCounters(posted).has_reached(1, first + epoch)) ::sched_yield();
      element += epoch;
      WindowCounters(completed).publish(0);
    }
  });
  std::uint32_t wrong = 0;
  std::uint64_t sum = 0;
  for (std::uint32_t epoch = 1; epoch <= epochs; ++epoch) {
    WindowCounters(posted).publish(1);
    while (!WindowCounters(completed).has_reached(0, first + epoch)) ::sched_yield();
    sum += epoch;
    if (element != sum) ++wrong;
  }
  origin.join();
  CHECK_EQ(wrong, 0);
}

}  // namespace margay::sim
