#include "portals/base/key_table.hpp"

#include <doctest/doctest.h>

#include <map>
#include <tuple>

#include "tests/portals/random.hpp"
#include "tests/support/seeds.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/base/key_table");

namespace {
using Table = KeyTable<std::uint32_t, 0>;
}

TEST_CASE("a key contains the significant bits of its shape") {
  const MatchShape shape{.ignore_bits = 0xff, .any_group = false, .any_rank = true};
  Header header;
  header.match_bits = 0x1234;
  header.source = {7, 8};
  CHECK(MatchKey::of(shape, header) == MatchKey{0x1200, 7, 0});
  CHECK(MatchKey::of(shape, header) == MatchKey::of(shape, Criteria{0x12ff, 0xff, 7, kAnyRank}));
  CHECK(MatchShape::of(Criteria{0x12ff, 0xff, 7, kAnyRank}) == shape);
}

TEST_CASE("the table agrees with a map, with crowded and erased keys") {
  for (const std::uint64_t seed : margay::testing::Seeds(30 / kFewer + 1)) {
    CAPTURE(seed);
    Random random(seed);
    Table table;
    std::map<std::tuple<MatchBits, GroupId, Rank>, std::uint32_t> expected;
    const std::uint64_t keys = 1 + random.below(400);
    for (int at = 0; at < 4000; ++at) {
      const std::uint64_t pick = random.below(keys);
      // Keys that differ in one field only, at either end of it.
      const MatchKey key{pick % 3 == 0 ? pick << 32 : 0, static_cast<GroupId>(pick % 3 == 1 ? pick : 0),
                         static_cast<Rank>(pick % 3 == 2 ? pick : 0)};
      const auto place = expected.find({key.bits, key.group, key.rank});
      const auto* const found = table.find(key);
      REQUIRE((found == nullptr) == (place == expected.end()));
      if (found != nullptr) REQUIRE(found->first == place->second);
      if (place == expected.end()) {
        auto& ends = table.obtain(key);
        REQUIRE(ends.first == 0);
        ends.first = static_cast<std::uint32_t>(at + 1);
        expected[{key.bits, key.group, key.rank}] = static_cast<std::uint32_t>(at + 1);
      } else if (random.percent(60)) {
        table.erase(key);
        expected.erase(place);
      } else {
        REQUIRE(table.at(key).first == place->second);
        REQUIRE(table.obtain(key).first == place->second);
      }
      REQUIRE(table.size() == expected.size());
    }
  }
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
