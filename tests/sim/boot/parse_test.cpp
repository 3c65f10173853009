#include "sim/boot/parse.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace sim = margay::sim;

TEST_CASE("the nearest spelling changes at most a third of the letters, and at least one") {
  struct Row {
    std::string_view word;
    std::string_view nearest;
  };
  constexpr Row kRows[] = {
      {"trace", "trace"},   // no edit
      {"tracee", "trace"},  // a letter too many
      {"trce", "trace"},    // a letter missing
      {"trase", "trace"},   // another letter
      {"tarce", "trace"},   // neighbours swapped
      {"rnu", "run"},       // one edit is permitted in a short word
      {"nru", ""},          // two are not
      {"tcare", ""},        // nor are they in a word of five letters
      {"calibtrae", "calibrate"},
      {"", ""},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.word);
    CHECK(sim::nearest_spelling(row.word, {"calibrate", "trace", "run"}) == row.nearest);
  }
}

TEST_CASE("the nearest spelling has the fewest edits, and words of more than 64 letters have none") {
  CHECK(sim::nearest_spelling("timeot", {"time", "timeout"}) == "timeout");
  CHECK(sim::nearest_spelling("timeout", {}).empty());
  const std::string most(64, 'x');
  const std::string longer(65, 'x');
  CHECK(sim::nearest_spelling(most, {most}) == most);
  CHECK(sim::nearest_spelling(longer, {longer}).empty());
}

TEST_CASE("a number is a whole text within the range of its type") {
  std::uint8_t small = 7;
  for (const std::string_view text : {"", "-1", "+1", " 1", "1 ", "1x", "0x1", "256", "1.0"}) {
    CAPTURE(text);
    CHECK_FALSE(sim::parse_number(text, small));
    CHECK(small == 7);
  }
  CHECK(sim::parse_number("255", small));
  CHECK(small == 255);
  CHECK(sim::parse_number("000", small));
  CHECK(small == 0);
  int number = 0;
  CHECK(sim::parse_number("-2147483648", number));
  CHECK(number == INT32_MIN);
  CHECK_FALSE(sim::parse_number("2147483648", number));
}
