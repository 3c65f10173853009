#include "portals/memory/heap.hpp"

#include <doctest/doctest.h>

#include <map>

#include "tests/portals/portals_fixture.hpp"
#include "tests/portals/random.hpp"
#include "tests/support/seeds.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/memory/heap");

TEST_CASE("a fresh heap is one free block; a tail shorter than a grain is unused") {
  Memory memory(64 * 10 + 63);
  Heap heap(memory.buffer());
  CHECK(heap.capacity() == 640);
  CHECK(heap.free_blocks() == 1);
  CHECK(heap.can_hold(640));
  CHECK_FALSE(heap.can_hold(641));
  CHECK_FALSE(heap.can_hold(~std::uint64_t{0}));
  CHECK(heap.allocate(641) == nullptr);
  CHECK(heap.allocate(640) == memory.data());
  CHECK(heap.free_blocks() == 0);
  CHECK_FALSE(heap.can_hold(0));
  CHECK(heap.allocate(1) == nullptr);
  heap.free(memory.data(), 640);
  CHECK(heap.free_blocks() == 1);
}

TEST_CASE("an empty heap has no room") {
  Heap heap({nullptr, 0});
  CHECK_FALSE(heap.can_hold(0));
  CHECK(heap.allocate(1) == nullptr);
}

TEST_CASE("the first block that is long enough is taken, not the best") {
  Memory memory(64 * 16);
  Heap heap(memory.buffer());
  std::array<std::byte*, 8> blocks{};
  for (std::byte*& block : blocks) block = heap.allocate(128);
  heap.free(blocks[1], 128);
  heap.free(blocks[2], 128);
  heap.free(blocks[5], 128);
  CHECK(heap.free_blocks() == 2);
  CHECK(heap.allocate(128) == blocks[1]);
  CHECK(heap.allocate(129) == nullptr);
  CHECK(heap.allocate(1) == blocks[2]);
  CHECK(heap.allocate(128) == blocks[5]);
  CHECK(heap.allocate(64) == blocks[2] + 64);
}

TEST_CASE("neighbours are merged on both sides") {
  Memory memory(64 * 5);
  Heap heap(memory.buffer());
  std::array<std::byte*, 5> blocks{};
  for (std::byte*& block : blocks) block = heap.allocate(64);
  heap.free(blocks[1], 64);
  heap.free(blocks[3], 64);
  CHECK(heap.free_blocks() == 2);
  CHECK_FALSE(heap.can_hold(65));
  heap.free(blocks[2], 64);
  CHECK(heap.free_blocks() == 1);
  CHECK(heap.can_hold(192));
  heap.free(blocks[0], 64);
  heap.free(blocks[4], 64);
  CHECK(heap.free_blocks() == 1);
  CHECK(heap.can_hold(320));
  CHECK(heap.used() == 0);
  CHECK(heap.high_water() == 320);
}

TEST_CASE("random blocks never overlap, first fit holds, and with all freed the heap is one block") {
  for (const std::uint64_t seed : margay::testing::Seeds(60 / kFewer + 1)) {
    CAPTURE(seed);
    Random random(seed);
    const std::size_t grains = 16 + random.below(400);
    Memory memory(grains * 64);
    Heap heap(memory.buffer());
    std::map<std::size_t, std::uint64_t> taken;  // first grain -> requested bytes
    const std::uint64_t longest = 64 * (1 + random.below(12));
    // The naive allocator: the place of `bytes` by first fit, from a scan of the gaps.
    const auto first_fit = [&](std::uint64_t bytes) {
      std::size_t at = 0;
      for (const auto& [grain, size] : taken) {
        if ((grain - at) * 64 >= Heap::rounded(bytes)) return at;
        at = grain + Heap::rounded(size) / 64;
      }
      return (grains - at) * 64 >= Heap::rounded(bytes) ? at : grains;
    };
    const auto gaps = [&] {
      std::size_t count = 0;
      std::size_t at = 0;
      for (const auto& [grain, size] : taken) {
        count += grain > at ? 1U : 0U;
        at = grain + Heap::rounded(size) / 64;
      }
      return count + (at < grains ? 1U : 0U);
    };
    std::uint64_t used = 0;
    for (int at = 0; at < 1500; ++at) {
      const bool filling = (at / 200) % 2 == 0;
      if (random.percent(filling ? 70 : 30)) {
        const std::uint64_t bytes = random.below(longest) + 1;
        const std::size_t expected = first_fit(bytes);
        REQUIRE(heap.can_hold(bytes) == (expected != grains));
        std::byte* const block = heap.allocate(bytes);
        REQUIRE(block == (expected == grains ? nullptr : memory.data() + expected * 64));
        if (block == nullptr) continue;
        std::fill_n(block, bytes, std::byte{0xee});  // the program may overwrite it: no node of the treap may be there
        taken[expected] = bytes;
        used += Heap::rounded(bytes);
      } else if (!taken.empty()) {
        const auto victim = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random.below(taken.size())));
        used -= Heap::rounded(victim->second);
        heap.free(memory.data() + victim->first * 64, victim->second);
        taken.erase(victim);
      }
      REQUIRE(heap.used() == used);
      REQUIRE(heap.free_blocks() == gaps());
    }
    while (!taken.empty()) {
      const auto victim = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random.below(taken.size())));
      heap.free(memory.data() + victim->first * 64, victim->second);
      taken.erase(victim);
    }
    REQUIRE(heap.free_blocks() == 1);
    REQUIRE(heap.can_hold(heap.capacity()));
    REQUIRE(heap.used() == 0);
  }
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
