// Tests of random trees of datatypes against a type map that is written out element by element, by recursion.
#include "tests/mpi_adi/datatype_trees.hpp"

#include <doctest/doctest.h>

#include "mpi_adi/datatype/elements.hpp"
#include "portals/base/region.hpp"
#include "tests/support/seeds.hpp"

namespace margay::mpi_adi {
namespace {

void check_numbers(const Type& type) {
  const TypeDefinition& made = *type.made;
  REQUIRE(static_cast<std::int64_t>(made.size) == type.map.bytes());
  REQUIRE(made.elements == type.map.items.size());
  REQUIRE(made.bounds.lower == type.map.lower());
  REQUIRE(made.bounds.upper == type.map.upper());
  if (type.map.items.empty()) return;
  std::int64_t low = INT64_MAX, high = INT64_MIN;
  for (const Item& item : type.map.items) {
    low = std::min(low, item.offset);
    high = std::max(high, item.offset + item.bytes);
  }
  REQUIRE(made.true_bounds.lower == low);
  REQUIRE(made.true_bounds.upper == high);
}

void check_moves(Trees& random, const Type& type) {
  const std::int64_t count = random.between(1, 3);
  Memory from(type, count);
  for (std::size_t i = 0; i < from.bytes.size(); ++i) from.bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  const std::vector<std::byte*> places = places_of(type, count, from.base);
  std::vector<std::byte> expected(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) expected[i] = *places[i];

  const portals::Region region(*type.made->in_a_row, from.base, places.size());
  std::vector<std::byte> packed(places.size());
  portals::copy(portals::Region(packed.data(), packed.size()), region);
  REQUIRE(packed == expected);

  // In parts, from any offset: read, compared and written.
  Memory to(type, count), reference(type, count);
  const portals::Region landing(*type.made->in_a_row, to.base, places.size());
  portals::RegionCursor reader(region), looker(region), writer(landing);
  for (std::size_t at = 0; at < places.size();) {
    const auto here = static_cast<std::size_t>(random.between(1, static_cast<std::int64_t>(places.size() - at)));
    std::vector<std::byte> some(here);
    reader.read(some);
    REQUIRE(std::equal(some.begin(), some.end(), expected.begin() + static_cast<std::ptrdiff_t>(at)));
    const portals::Buffer piece = looker.peek(here);
    REQUIRE(piece.base == places[at]);
    REQUIRE(piece.base + piece.bytes - 1 == places[at + piece.bytes - 1]);
    looker.skip(here);
    writer.write(some);
    at += here;
  }
  const std::vector<std::byte*> written = places_of(type, count, reference.base);
  for (std::size_t i = 0; i < written.size(); ++i) *written[i] = expected[i];
  REQUIRE(to.bytes == reference.bytes);

  const auto begin = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(places.size())));
  const std::size_t length = places.size() - begin;
  std::vector<std::byte> rest(length);
  portals::copy(portals::Region(rest.data(), length), region.slice(begin, length));
  REQUIRE(std::equal(rest.begin(), rest.end(), expected.begin() + static_cast<std::ptrdiff_t>(begin)));
}

void check_elements(Trees& random, const Type& type) {
  const auto bytes = static_cast<std::uint64_t>(random.below(static_cast<std::int64_t>(2 * type.made->size) + 1));
  std::uint64_t elements = 0, left = bytes;
  for (std::size_t i = 0;; ++i) {
    const auto one = static_cast<std::uint64_t>(type.map.items[i % type.map.items.size()].bytes);
    if (left < one) break;
    left -= one;
    ++elements;
  }
  const auto counted = elements_in(*type.made, bytes);
  REQUIRE(counted.has_value() == (left == 0));
  if (counted) REQUIRE(*counted == elements);
}

TEST_CASE("random trees of datatypes have the right sizes, pack from any byte, unpack, and count elements") {
  constexpr int kTreesOfASeed = 100;
  for (const std::uint64_t seed : testing::Seeds(testing::of_one_thread(1000))) {
    CAPTURE(seed);
    Trees random(seed);
    for (int tree = 0; tree < kTreesOfASeed; ++tree) {
      CAPTURE(tree);
      const Type type = random.grow(static_cast<int>(random.between(1, 3)));
      REQUIRE(type.made != nullptr);
      check_numbers(type);
      if (type.made->size == 0) continue;
      // Most trees are small; a few large ones suffice.
      if (type.made->size > 200 && tree % 32 != 0) continue;
      check_moves(random, type);
      check_elements(random, type);
    }
  }
}

}  // namespace
}  // namespace margay::mpi_adi
