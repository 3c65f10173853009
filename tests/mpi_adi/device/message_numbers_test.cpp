#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

#include "mpi_adi/device/message_numbers.hpp"
#include "portals/memory/arrived_message.hpp"

using margay::mpi_adi::MessageNumbers;
using margay::portals::ArrivedMessage;

TEST_CASE("message numbers: a kept number is taken once, in any order") {
  std::vector<ArrivedMessage> places(500);
  std::unordered_map<const ArrivedMessage*, std::uint64_t> expected;
  MessageNumbers numbers;
  CHECK(numbers.take(places[0]) == 0);
  std::mt19937_64 random(3);
  for (std::uint64_t step = 1; step <= 20'000; ++step) {
    const std::size_t most = step < 10'000 ? places.size() : 20;  // fills, and then empties
    const ArrivedMessage& place = places[random() % most];
    if (random() % 2 == 0) {
      numbers.keep(place, step);
      expected[&place] = step;
      continue;
    }
    CAPTURE(step);
    REQUIRE(numbers.take(place) == (expected.contains(&place) ? expected[&place] : 0));
    expected.erase(&place);
  }
  for (const ArrivedMessage& place : places) {
    CHECK(numbers.take(place) == (expected.contains(&place) ? expected[&place] : 0));
  }
}
