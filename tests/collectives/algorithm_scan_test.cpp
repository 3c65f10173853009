// Scans by recursive doubling: an operation that does not commute is combined in the order of ranks, up to each rank or
// before it.
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/collectives/operands.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {

TEST_CASE("each rank's scan is what the ranks up to it come to, or before it, in their order") {
  for (const ScanKind kind : {ScanKind::inclusive, ScanKind::exclusive}) {
    for (const int size : {1, 2, 3, 5, 8, 13, 17}) {
      for (const std::uint64_t seed : testing::Seeds(6)) {
        CAPTURE(size);
        CAPTURE(seed);
        const std::size_t count = seed % 3 == 0 ? 2000 : seed % 3;
        CollectiveWorld world({.ranks = size, .seed = seed});
        CHECK(world.run([&](int rank) {
          std::vector<Map> mine = maps_of(rank, count);
          const int error_class = world.call(rank, [&](Collective& collective) {
            return scan_exchange(collective, kind, reinterpret_cast<std::byte*>(mine.data()), count, sizeof(Map),
                                 Reducer(&compose, false));
          });
          CHECK(error_class == MPI_SUCCESS);
          const int ranks = kind == ScanKind::inclusive ? rank + 1 : rank;
          if (ranks > 0) CHECK(mine == composed(ranks, count));
        }));
      }
    }
  }
}

TEST_CASE("a scan with a lost rank ends with an error where it is missing") {
  for (const std::uint64_t seed : testing::Seeds(30)) {
    CAPTURE(seed);
    const int size = 2 + static_cast<int>(seed % 9);
    const int absent = static_cast<int>(seed * 7 % static_cast<std::uint64_t>(size));
    CollectiveWorld world({.ranks = size, .seed = seed});
    CHECK(world.run(
        [&](int rank) {
          std::vector<Map> mine = maps_of(rank, 5);
          const int error_class = world.call(rank, [&](Collective& collective) {
            return scan_exchange(collective, ScanKind::inclusive, reinterpret_cast<std::byte*>(mine.data()), 5,
                                 sizeof(Map), Reducer(&compose, false));
          });
          CHECK((error_class == MPI_SUCCESS || error_class == MPIX_ERR_PROC_FAILED));
          if (rank > absent) CHECK(error_class == MPIX_ERR_PROC_FAILED);
        },
        absent));
  }
}

}  // namespace margay::collectives
