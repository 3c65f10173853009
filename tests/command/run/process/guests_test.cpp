// Tests of Guests: a guest keeps its place while a process needs it; places of former guests serve others.
#include "command/run/process/guests.hpp"

#include <doctest/doctest.h>

namespace margay::command {

namespace {

constexpr sim::Endpoint kOne{100, 0};
constexpr sim::Endpoint kOther{100, 1};
constexpr sim::Endpoint kThird{200, 0};

// Places 9 and 8, in this order.
Guests two_places() {
  return Guests([left = std::vector<std::uint32_t>{8, 9}]() mutable -> std::optional<std::uint32_t> {
    if (left.empty()) return std::nullopt;
    const std::uint32_t place = left.back();
    left.pop_back();
    return place;
  });
}

}  // namespace

TEST_CASE("guests: all processes get the same place for a guest, and another one for another guest") {
  Guests guests = two_places();
  CHECK(guests.find(kOne, 0) == 9U);
  CHECK(guests.find(kOne, 1) == 9U);
  CHECK(guests.find(kOther, 1) == 8U);
  CHECK(guests.find(kOne, 0) == 9U);
  CHECK(!guests.find(kThird, 0));
  // The refused guest holds nothing.
  CHECK(!guests.release(7, 0));
}

TEST_CASE("guests: a place is free when no process needs its guest") {
  Guests guests = two_places();
  REQUIRE(guests.find(kOne, 0) == 9U);
  REQUIRE(guests.find(kOne, 1) == 9U);
  REQUIRE(guests.find(kOther, 2) == 8U);
  CHECK(guests.release(9, 0));
  CHECK(!guests.release(9, 0));
  CHECK(!guests.release(9, 2));
  CHECK(!guests.find(kThird, 0));
  SUBCASE("the last process gives it back") {
    CHECK(guests.release(9, 1));
  }
  SUBCASE("the last process ends") {
    guests.on_end(1);
  }
  CHECK(guests.find(kThird, 0) == 9U);
  CHECK(!guests.find(kOne, 0));
  // The end of a process frees all places that it alone needed.
  guests.on_end(2);
  CHECK(guests.find(kOne, 0) == 8U);
}

}  // namespace margay::command
