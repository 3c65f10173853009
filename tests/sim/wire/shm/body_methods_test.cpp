#include "sim/wire/shm/body_methods.hpp"

#include <doctest/doctest.h>

namespace margay::sim {
namespace {

constexpr std::uint64_t kSmall = 20'000, kMiddle = 300'000;

// Adds `count` pairs of bodies, one of each method in turn, with the given nanoseconds each. Returns whether a
// preference changed.
bool come(BodyTimes& times, std::uint64_t length, std::uint64_t ring_ns, std::uint64_t reading_ns, int count) {
  bool changed = false;
  for (int i = 0; i < count; ++i) {
    for (const bool reading : {false, false, true, true}) {
      times.begin(length, reading);
      times.record_copy(length / 2, (reading ? reading_ns : ring_ns) / 2);
      times.record_copy(length / 2, (reading ? reading_ns : ring_ns) / 2);
      changed |= times.end();
    }
  }
  return changed;
}

BodyPreference of(const BodyTimes& times, std::uint64_t length) {
  return preference(times.preferences(), body_class(length));
}

TEST_CASE("body methods: the faster method is preferred, for each size separately, once both are known") {
  BodyTimes times;
  CHECK_FALSE(come(times, kSmall, 2'000, 5'000, 5));
  CHECK(of(times, kSmall) == BodyPreference::unknown);
  CHECK(come(times, kSmall, 2'000, 5'000, 1));
  CHECK(of(times, kSmall) == BodyPreference::ring);
  CHECK(come(times, kMiddle, 30'000, 15'000, 6));
  CHECK(of(times, kMiddle) == BodyPreference::reading);
  CHECK(of(times, kSmall) == BodyPreference::ring);
}

TEST_CASE(
    "body methods: a byte through the ring is copied twice, a read one once, half of a shared body by each side") {
  BodyTimes times;
  come(times, kMiddle, 15'000, 20'000, 8);
  CHECK(of(times, kMiddle) == BodyPreference::reading);
  come(times, kMiddle, 15'000, 40'000, 30);
  CHECK(of(times, kMiddle) == BodyPreference::ring);
}

TEST_CASE("body methods: the first body after one of the other method is not counted, nor a part copied elsewhere") {
  BodyTimes times;
  for (int i = 0; i < 40; ++i) {
    for (const bool reading : {false, true}) {
      times.begin(kMiddle, reading);
      times.record_copy(kMiddle, 1'000);
      CHECK_FALSE(times.end());
    }
  }
  for (int i = 0; i < 40; ++i) {
    times.begin(kMiddle, true);
    CHECK_FALSE(times.end());
  }
  CHECK(of(times, kMiddle) == BodyPreference::unknown);
}

TEST_CASE("body methods: slow first bodies, one interruption and small differences do not change the preference") {
  BodyTimes times;
  come(times, kMiddle, 900'000, 15'000, 2);  // fresh pages
  come(times, kMiddle, 15'000, 60'000, 10);
  REQUIRE(of(times, kMiddle) == BodyPreference::ring);
  come(times, kMiddle, 90'000'000, 60'000, 1);
  come(times, kMiddle, 15'000, 60'000, 20);
  CHECK(of(times, kMiddle) == BodyPreference::ring);
  CHECK_FALSE(come(times, kMiddle, 15'000, 29'000, 40));
}

TEST_CASE("body methods: a preference follows changes of the machine") {
  BodyTimes times;
  come(times, kMiddle, 15'000, 60'000, 10);
  REQUIRE(of(times, kMiddle) == BodyPreference::ring);
  CHECK(come(times, kMiddle, 60'000, 60'000, 20));
  CHECK(of(times, kMiddle) == BodyPreference::reading);
}

TEST_CASE("body methods: a sender tries both methods, then follows, and tries the other one occasionally") {
  const auto readings = [](BodyPreferences preferences) {
    BodyMethodChooser chooser;
    int count = 0;
    for (int i = 0; i < 1280; ++i) count += chooser.reading(kMiddle, preferences) ? 1 : 0;
    return count;
  };
  CHECK(readings(0) == 640);
  CHECK(readings(std::uint64_t{1} << (2 * body_class(kMiddle))) == 10);
  CHECK(readings(std::uint64_t{2} << (2 * body_class(kMiddle))) == 1270);
  CHECK(readings(~std::uint64_t{0}) == 640);  // an invalid word counts as not known
}

TEST_CASE("body methods: a body of many ringfuls tries nothing") {
  constexpr std::uint64_t kLong = std::uint64_t{64} << 20U;
  BodyMethodChooser chooser;
  const BodyPreferences ring = std::uint64_t{1} << (2 * body_class(kLong));
  for (int i = 0; i < 1280; ++i) REQUIRE(chooser.reading(kLong, 0));
  for (int i = 0; i < 1280; ++i) REQUIRE(chooser.reading(kLong, 2 * ring));
  int through_ring = 0;
  for (int i = 0; i < 256; ++i) through_ring += chooser.reading(kLong, ring) ? 0 : 1;
  CHECK(through_ring > 250);
}

}  // namespace
}  // namespace margay::sim
