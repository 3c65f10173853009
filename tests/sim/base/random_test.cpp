#include "sim/base/random.hpp"

#include <array>
#include <cstddef>
#include <string_view>

#include <doctest/doctest.h>

namespace sim = margay::sim;

TEST_CASE("random bytes fill a whole buffer, and two buffers differ") {
  std::array<std::byte, 64> first{};
  std::array<std::byte, 64> second{};
  sim::fill_random(first);
  sim::fill_random(second);
  // Equal by chance once in 2^512 runs.
  CHECK(first != second);
  CHECK(sim::random_u64() != sim::random_u64());
  sim::fill_random({});
}

TEST_CASE("hexadecimal text has two lower-case digits for each byte") {
  constexpr std::array kBytes = {std::byte{0x00}, std::byte{0x0f}, std::byte{0xa5}, std::byte{0xff}};
  CHECK(sim::to_hex(kBytes) == "000fa5ff");
  CHECK(sim::to_hex({}).empty());
  std::array<std::byte, 4> back{};
  CHECK(sim::from_hex("000fa5ff", back));
  CHECK(back == kBytes);
}

TEST_CASE("hexadecimal text of another length or with other characters is rejected") {
  constexpr std::string_view kWrong[] = {"", "0", "000", "00000", "0g", "g0", "0F", " 0", "0 ", "0x", "-1"};
  for (const std::string_view text : kWrong) {
    CAPTURE(text);
    std::array<std::byte, 1> out{};
    CHECK_FALSE(sim::from_hex(text, out));
  }
  CHECK(sim::from_hex("", {}));
  CHECK_FALSE(sim::from_hex("00", {}));
}
