#include "command/run/process/places.hpp"

#include <doctest/doctest.h>

namespace margay::command {

using Numbers = std::vector<std::uint32_t>;

TEST_CASE("the lowest free places are taken, and those of the first ranks are never given to others") {
  Places places(2, 6);
  CHECK(places.free() == 4);
  CHECK(places.used() == 2);
  CHECK(places.take(2) == Numbers{2, 3});
  CHECK(places.world_of(1) == 0);
  CHECK(places.world_of(3) == 1);
  CHECK(places.used() == 4);
  places.on_end(0, true);
  places.on_end(1, true);
  CHECK(places.free() == 2);
  CHECK(places.take(0).empty());
}

TEST_CASE("places become free together, once all processes of their world have ended") {
  Places places(1, 4);
  CHECK(places.take(2) == Numbers{1, 2});
  places.on_end(1, true);
  CHECK(places.free() == 1);
  places.on_end(2, true);
  CHECK(places.free() == 3);
  CHECK(places.take(3) == Numbers{1, 2, 3});
  CHECK(places.world_of(1) == 2);
  CHECK(places.used() == 4);
}

TEST_CASE("a place whose process left something behind is not used again") {
  Places places(1, 4);
  CHECK(places.take(2) == Numbers{1, 2});
  CHECK(places.some_may_end());
  places.on_end(1, false);
  CHECK(places.some_may_end());
  places.on_end(2, true);
  CHECK(!places.some_may_end());
  CHECK(places.free() == 2);
  CHECK(places.take(2) == Numbers{2, 3});
  CHECK(places.free() == 0);
}

TEST_CASE("a place that is retired after its process has ended is not used again") {
  Places places(1, 3);
  CHECK(places.take(2) == Numbers{1, 2});
  // Nothing to retire: the process runs.
  places.retire(2);
  places.on_end(1, true);
  places.on_end(2, true);
  CHECK(places.free() == 2);
  places.retire(1);
  CHECK(places.take(1) == Numbers{2});
}

TEST_CASE("a place is free once its predecessor's state is at rest") {
  bool is_at_rest = false;
  Places places(1, 2, [&is_at_rest](std::uint32_t) { return is_at_rest; });
  CHECK(places.free() == 1);
  CHECK(places.take(1) == Numbers{1});
  places.on_end(1, true);
  CHECK(places.free() == 0);
  CHECK(places.some_may_end());
  is_at_rest = true;
  CHECK(places.take(1) == Numbers{1});
}

TEST_CASE("a hundred worlds of one process take turns in one place") {
  Places places(1, 2);
  for (std::uint32_t world = 1; world <= 100; ++world) {
    REQUIRE(places.take(1) == Numbers{1});
    CHECK(places.world_of(1) == world);
    CHECK(places.free() == 0);
    places.on_end(1, true);
  }
  CHECK(places.used() == 2);
}

TEST_CASE("guests get the highest places that never had a process") {
  Places places(2, 6);
  CHECK(places.take(1) == Numbers{2});
  CHECK(places.take_for_guest() == 5U);
  CHECK(places.take_for_guest() == 4U);
  CHECK(places.free() == 1);
  CHECK(places.take(1) == Numbers{3});
  CHECK(!places.take_for_guest());
  // A place that a process of this job has left is free for such processes only.
  places.on_end(3, true);
  CHECK(!places.take_for_guest());
  CHECK(places.free() == 1);
  CHECK(places.used() == 4);
}

}  // namespace margay::command
