// Tests of scans by recursive doubling and along the chain: a non-commutative operation is combined in the order of
// ranks, inclusive or exclusive.
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/collectives/operands.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

using Scan = Steps (*)(Collective&, ScanCall);
constexpr Scan kScans[] = {&scan_exchange, &scan_chain};

Scan scan_of(std::uint64_t seed) {
  return kScans[seed / 3 % 2];
}

}  // namespace

TEST_CASE("each rank's scan combines the ranks up to it, or before it, in their order") {
  for (const ScanKind kind : {ScanKind::inclusive, ScanKind::exclusive}) {
    for (const int size : {1, 2, 3, 5, 8, 13, 17}) {
      for (const std::uint64_t seed : testing::Seeds(12)) {
        CAPTURE(size);
        CAPTURE(seed);
        // Short rows, and rows of several pieces.
        const std::size_t count = seed % 3 == 0 ? 2000 + seed % 4 * 4000 : seed % 3;
        CollectiveWorld world({.ranks = size, .seed = seed});
        CHECK(world.run([&](int rank) {
          std::vector<Map> mine = maps_of(rank, count);
          const int error_class = world.call(rank, [&](Collective& collective) {
            return scan_of(seed)(
                collective,
                {kind, {reinterpret_cast<std::byte*>(mine.data()), count, sizeof(Map), Reducer(&compose, false)}});
          });
          CHECK(error_class == MPI_SUCCESS);
          const int ranks = kind == ScanKind::inclusive ? rank + 1 : rank;
          if (ranks > 0) CHECK(mine == composed(ranks, count));
        }));
      }
    }
  }
}

TEST_CASE("a scan with a lost rank ends with an error on the ranks that need its part") {
  for (const std::uint64_t seed : testing::Seeds(60)) {
    CAPTURE(seed);
    const int size = 2 + static_cast<int>(seed % 9);
    const int absent = static_cast<int>(seed * 7 % static_cast<std::uint64_t>(size));
    CollectiveWorld world({.ranks = size, .seed = seed});
    CHECK(world.run(
        [&](int rank) {
          const std::size_t count = seed % 2 == 0 ? 5 : 6000;
          std::vector<Map> mine = maps_of(rank, count);
          const int error_class = world.call(rank, [&](Collective& collective) {
            return scan_of(seed)(collective, {ScanKind::inclusive,
                                              {reinterpret_cast<std::byte*>(mine.data()), count, sizeof(Map),
                                               Reducer(&compose, false)}});
          });
          CHECK((error_class == MPI_SUCCESS || error_class == MPIX_ERR_PROC_FAILED));
          if (rank > absent) CHECK(error_class == MPIX_ERR_PROC_FAILED);
        },
        absent));
  }
}

}  // namespace margay::collectives
