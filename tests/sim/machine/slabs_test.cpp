// Tests of Slabs, the allocator of short pieces, against a model: pieces have their length and alignment and do not
// overlap, and an empty slab returns to the heap.
#include "sim/machine/slabs.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>

namespace margay::sim {
namespace {

TEST_CASE("slabs: the place of a short piece has a power of two bytes, at least 64") {
  CHECK(Slabs::slot_bytes(0, 1) == 64);
  CHECK(Slabs::slot_bytes(64, 64) == 64);
  CHECK(Slabs::slot_bytes(65, 64) == 128);
  CHECK(Slabs::slot_bytes(1, 4096) == 4096);
  CHECK(Slabs::slot_bytes(5000, 64) == 8192);
  CHECK(Slabs::slot_bytes(Slabs::kSlotBytesMax, 64) == Slabs::kSlotBytesMax);
  CHECK(!Slabs::slot_bytes(Slabs::kSlotBytesMax + 1, 64));
  CHECK(!Slabs::slot_bytes(~std::uint64_t{0}, 64));
}

// A heap that hands out slabs far apart.
struct Model {
  Slabs slabs;
  std::set<std::uint64_t> given;
  std::map<std::uint64_t, std::uint64_t> living;  // bytes, by position
  std::uint64_t next = 1 << 20;

  std::uint64_t take(std::uint64_t bytes, std::uint64_t alignment) {
    const std::uint64_t slot_bytes = Slabs::slot_bytes(bytes, alignment).value();
    std::optional<std::uint64_t> at = slabs.take(slot_bytes, bytes);
    if (!at) {
      slabs.add(next, slot_bytes);
      given.insert(next);
      next += 3 * Slabs::kSlabBytes;
      at = slabs.take(slot_bytes, bytes);
    }
    REQUIRE(at);
    CHECK(*at % alignment == 0);
    const auto after = living.upper_bound(*at);
    if (after != living.end()) CHECK(*at + slot_bytes <= after->first);
    if (after != living.begin()) CHECK(std::prev(after)->first + std::prev(after)->second <= *at);
    const auto slab = std::prev(given.upper_bound(*at));
    CHECK(*at + slot_bytes <= *slab + Slabs::kSlabBytes);
    living.emplace(*at, bytes);
    return *at;
  }
  void give_back(std::uint64_t at) {
    living.erase(at);
    const std::optional<std::uint64_t> empty = slabs.give_back(at);
    if (!empty) return;
    CHECK(given.erase(*empty) == 1);
    const auto inside = living.lower_bound(*empty);
    CHECK((inside == living.end() || inside->first >= *empty + Slabs::kSlabBytes));
  }
};

TEST_CASE("slabs: random pieces do not overlap, are found, and leave at most a slab of each length") {
  Model model;
  std::mt19937_64 random(20'26);
  for (int step = 0; step < 20'000; ++step) {
    const bool grows = step / 2500 % 2 == 0;
    if (model.living.empty() || random() % 8 < (grows ? 6U : 2U)) {
      const std::uint64_t bytes = random() % (Slabs::kSlotBytesMax >> random() % 9);
      model.take(bytes, std::uint64_t{1} << random() % 13);
      continue;
    }
    auto at = model.living.lower_bound(random() % model.next);
    if (at == model.living.end()) at = model.living.begin();
    const auto [position, bytes] = *at;
    const std::optional<Slabs::Piece> found = model.slabs.find(position + bytes / 2);
    REQUIRE(found);
    CHECK(found->begin == position);
    CHECK(found->bytes == bytes);
    model.give_back(position);
    CHECK(!model.slabs.find(position));
    REQUIRE(model.slabs.pieces() == model.living.size());
    REQUIRE(model.slabs.slabs() == model.given.size());
  }
  while (!model.living.empty()) model.give_back(model.living.begin()->first);
  CHECK(model.slabs.pieces() == 0);
  CHECK(model.given.size() <= 9);
  while (const std::optional<std::uint64_t> empty = model.slabs.drop_empty()) CHECK(model.given.erase(*empty) == 1);
  CHECK(model.given.empty());
  CHECK(model.slabs.slabs() == 0);
  CHECK(!model.slabs.find(0));
}

TEST_CASE("slabs: one piece allocated repeatedly needs one slab") {
  Model model;
  for (int i = 0; i < 100; ++i) model.give_back(model.take(10, 64));
  CHECK(model.given.size() == 1);
  CHECK(model.next == (1 << 20) + 3 * Slabs::kSlabBytes);
}

}  // namespace
}  // namespace margay::sim
