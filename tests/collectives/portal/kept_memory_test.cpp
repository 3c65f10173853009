// Tests of memory that calls reuse: two calls never share it, and its amount is bounded.
#include "collectives/portal/kept_memory.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "tests/support/seeds.hpp"

namespace margay::collectives {

TEST_CASE("kept memory: the next call gets the memory that a call returned, if the length is similar") {
  const auto pool = std::make_shared<KeptMemory>();
  const std::byte* first = nullptr;
  {
    const KeptMemory::Run run = KeptMemory::take(pool, KeptMemory::kLongBytes * 3);
    first = run.get();
    CHECK(pool->kept_bytes() == 0);
  }
  CHECK(pool->kept_bytes() == KeptMemory::kLongBytes * 3);
  const KeptMemory::Run same = KeptMemory::take(pool, KeptMemory::kLongBytes * 2);
  CHECK(same.get() == first);
  CHECK(pool->kept_bytes() == 0);
  const KeptMemory::Run other = KeptMemory::take(pool, KeptMemory::kLongBytes * 2);
  CHECK(other.get() != first);
}

TEST_CASE("kept memory: runs are as long as requested and never shared, and the kept ones are bounded") {
  for (const std::uint64_t seed : testing::Seeds(4)) {
    std::mt19937_64 random(seed);
    const auto pool = std::make_shared<KeptMemory>();
    struct Held {
      KeptMemory::Run run;
      std::uint64_t bytes;
      int mark;
    };
    std::vector<Held> held;
    for (int step = 0; step < 400; ++step) {
      if (held.size() < 8 && random() % 2 == 0) {
        const std::uint64_t bytes = random() % (std::uint64_t{1} << (10 + random() % 15));
        held.push_back({KeptMemory::take(pool, bytes), bytes, step % 251});
        std::memset(held.back().run.get(), held.back().mark, bytes);
      } else if (!held.empty()) {
        const std::size_t at = random() % held.size();
        const Held& one = held[at];
        for (std::uint64_t byte = 0; byte < one.bytes; byte += 997) {
          REQUIRE(one.run.get()[byte] == static_cast<std::byte>(one.mark));
        }
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
      }
      REQUIRE(pool->kept_bytes() <= KeptMemory::kKeptBytes);
    }
  }
}

TEST_CASE("kept memory: a run outlives its origin, and a very long one is not kept") {
  auto pool = std::make_shared<KeptMemory>();
  KeptMemory::Run run = KeptMemory::take(pool, KeptMemory::kLongBytes);
  { const KeptMemory::Run very_long = KeptMemory::take(pool, KeptMemory::kKeptBytes + 1); }
  CHECK(pool->kept_bytes() == 0);
  pool.reset();
  run.get()[0] = std::byte{1};
}

}  // namespace margay::collectives
