#include <doctest/doctest.h>

#include <algorithm>

#include "sim/base/clock.hpp"
#include "sim/trace/tick_scale.hpp"

using namespace margay::sim;

TEST_CASE("the real clock advances, in ticks and in nanoseconds") {
  const RealClock clock;
  std::uint64_t last_ns = clock.now_ns();
  std::uint64_t last_ticks = clock.ticks();
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t now_ns = clock.now_ns();
    const std::uint64_t ticks = clock.ticks();
    REQUIRE(now_ns >= last_ns);
    REQUIRE(ticks >= last_ticks);
    last_ns = now_ns;
    last_ticks = ticks;
  }
}

TEST_CASE("virtual time changes only when it is advanced or set, and never goes back") {
  VirtualClock clock(5);
  CHECK(clock.kind() == ClockKind::virtual_ns);
  CHECK(clock.now_ns() == 5);
  clock.advance_ns(10);
  CHECK(clock.ticks() == 15);
  clock.set_ns(100);
  clock.set_ns(50);
  CHECK(clock.now_ns() == 100);
}

TEST_CASE("two anchors give the counter's time to well under a microsecond") {
  const RealClock clock;
  const ClockAnchor first = take_anchor(clock);
  while (clock.now_ns() - first.time_ns < 2'000'000) {
  }
  const ClockAnchor last = take_anchor(clock);
  const TickScale scale(clock.kind(), first, last);
  while (clock.now_ns() - last.time_ns < 500'000) {
  }
  // An interrupt may fall between the two readings, so the best of many attempts shows the scale's own error.
  std::uint64_t best = ~std::uint64_t{0};
  for (int i = 0; i < 100; ++i) {
    const ClockAnchor now = take_anchor(clock);
    const std::uint64_t converted = scale.to_ns(now.ticks);
    best = std::min(best, converted > now.time_ns ? converted - now.time_ns : now.time_ns - converted);
  }
  CHECK(best < 1000);
}

TEST_CASE("a scale converts exactly, on both sides of its first anchor, and never wraps") {
  const TickScale scale(ClockKind::tsc, {1000, 500}, {3000, 1500});  // two ticks a nanosecond
  CHECK(scale.span_ns() == 1000);
  CHECK(scale.to_ns(1000) == 500);
  CHECK(scale.to_ns(1500) == 750);
  CHECK(scale.to_ns(7000) == 3500);
  CHECK(scale.to_ns(500) == 250);
  CHECK(scale.to_ns(0) == 0);
  const std::uint64_t max = ~std::uint64_t{0};
  CHECK(TickScale(ClockKind::tsc, {0, max - 10}, {10, max}).to_ns(100) == max);
  CHECK(TickScale(ClockKind::tsc, {100, 10}, {200, 110}).to_ns(0) == 0);
  CHECK(TickScale(ClockKind::tsc, {0, 0}, {1, max}).to_ns(max) == max);
}

TEST_CASE("anchors that define no line do not change ticks; clocks in nanoseconds need none") {
  CHECK(TickScale(ClockKind::tsc, {0, 0}, {0, 0}).to_ns(77) == 77);
  CHECK(TickScale(ClockKind::tsc, {50, 20}, {40, 90}).to_ns(51) == 21);
  CHECK(TickScale(ClockKind::monotonic, {1, 2}, {3, 9}).to_ns(77) == 77);
  CHECK(TickScale(ClockKind::virtual_ns, {1, 2}, {3, 9}).to_ns(77) == 77);
}
