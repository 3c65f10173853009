// Tests of the window of numbers, beside a set of all numbers.
#include "libraries/nexus/modules/number_window.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>

#include "tests/support/seeds.hpp"

namespace margay::nexus::test {

TEST_CASE("the window accepts each number once, within its length") {
  for (const std::uint64_t seed : testing::Seeds(20)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    core::NumberWindow window;
    std::set<std::uint64_t> seen;
    std::uint64_t end = 0;
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t far = random() % 100 == 0 ? 3000 : 40;
      const std::uint64_t back = std::min(end, random() % (core::NumberWindow::kNumbers + 20));
      const std::uint64_t number = random() % 2 == 0 ? end + random() % far : end - back;
      const bool expected = number >= end || (end - number <= core::NumberWindow::kNumbers && !seen.contains(number));
      REQUIRE(window.is_new(number) == expected);
      if (!expected) continue;
      window.note(number);
      seen.insert(number);
      end = std::max(end, number + 1);
      REQUIRE(window.end() == end);
    }
  }
}

}  // namespace margay::nexus::test
