// Tests of reductions by slices: a non-commutative operation is combined in the order of ranks, for any length; a
// commutative one gives the same bits on all ranks.
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/collectives/operands.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

std::byte* maps_bytes(std::vector<Map>& maps) {
  return reinterpret_cast<std::byte*>(maps.data());
}

// Fewer elements than ranks; slices shorter and longer than those that are requested.
std::size_t maps_count(std::uint64_t seed) {
  constexpr std::size_t kCounts[] = {0, 1, 3, 50, 5000};
  return kCounts[seed % 5];
}

}  // namespace

TEST_CASE("slices cover a row without gaps, and have nearly equal lengths") {
  for (const int ranks : {1, 2, 3, 7, 64}) {
    for (const std::size_t count : {0, 1, 5, 63, 64, 65, 1000}) {
      const std::vector<Slice> slices = even_slices(count, ranks);
      REQUIRE(slices.size() == static_cast<std::size_t>(ranks));
      std::size_t next = 0;
      for (const Slice& slice : slices) {
        CHECK(slice.first == next);
        CHECK(slice.count <= slices.back().count + 1);
        CHECK(slice.count >= slices.back().count);
        next += slice.count;
      }
      CHECK(next == count);
    }
  }
}

TEST_CASE("an allreduce and a reduction by slices keep the order of ranks") {
  for (const int size : {1, 2, 3, 5, 8, 13}) {
    for (const std::uint64_t seed : testing::Seeds(10)) {
      CAPTURE(size);
      CAPTURE(seed);
      const std::size_t count = maps_count(seed);
      const int root = static_cast<int>(seed % static_cast<std::uint64_t>(size));
      CollectiveWorld world({.ranks = size, .seed = seed});
      CHECK(world.run([&](int rank) {
        const Reducer in_order(&compose, false);
        std::vector<Map> everywhere = maps_of(rank, count);
        CHECK(world.call(rank, [&](Collective& collective) {
          return allreduce_direct(collective, {maps_bytes(everywhere), count, sizeof(Map), in_order});
        }) == MPI_SUCCESS);
        CHECK(everywhere == composed(size, count));
        std::vector<Map> at_root = maps_of(rank, count);
        CHECK(world.call(rank, [&](Collective& collective) {
          return reduce_direct(collective, root, {maps_bytes(at_root), count, sizeof(Map), in_order});
        }) == MPI_SUCCESS);
        if (rank == root) CHECK(at_root == composed(size, count));
      }));
    }
  }
}

TEST_CASE("each rank gets its slice of the result, also if slices differ") {
  for (const bool commutes : {false, true}) {
    for (const int size : {1, 2, 4, 7}) {
      for (const std::uint64_t seed : testing::Seeds(8)) {
        CAPTURE(commutes);
        CAPTURE(size);
        CAPTURE(seed);
        std::vector<Slice> slices;
        std::size_t count = 0;
        for (int rank = 0; rank < size; ++rank) {
          slices.push_back({count, maps_count(seed + static_cast<std::uint64_t>(rank))});
          count += slices.back().count;
        }
        CollectiveWorld world({.ranks = size, .seed = seed});
        CHECK(world.run([&](int rank) {
          const Slice mine = slices[static_cast<std::size_t>(rank)];
          if (commutes) {
            std::vector<std::uint64_t> row(count);
            std::iota(row.begin(), row.end(), static_cast<std::uint64_t>(rank));
            CHECK(world.call(rank, [&](Collective& collective) {
              return reduce_scatter_direct(collective,
                                           {reinterpret_cast<std::byte*>(row.data()), count, sizeof(std::uint64_t),
                                            predefined_combine(MPI_SUM, MPI_UINT64_T)},
                                           slices);
            }) == MPI_SUCCESS);
            const auto ranks = static_cast<std::uint64_t>(size);
            for (std::size_t i = mine.first; i < mine.first + mine.count; ++i) {
              CHECK(row[i] == ranks * i + ranks * (ranks - 1) / 2);
            }
            return;
          }
          std::vector<Map> row = maps_of(rank, count);
          CHECK(world.call(rank, [&](Collective& collective) {
            return reduce_scatter_direct(collective, {maps_bytes(row), count, sizeof(Map), Reducer(&compose, false)},
                                         slices);
          }) == MPI_SUCCESS);
          const std::vector<Map> all = composed(size, count);
          for (std::size_t i = mine.first; i < mine.first + mine.count; ++i) CHECK(row[i] == all[i]);
        }));
      }
    }
  }
}

TEST_CASE("a lost rank ends every rank's allreduce by slices with an error: its part is in every slice") {
  for (const int size : {2, 3, 5, 8}) {
    for (const std::uint64_t seed : testing::Seeds(10)) {
      CAPTURE(size);
      CAPTURE(seed);
      const std::size_t count = maps_count(seed % 2 + 3);
      CollectiveWorld world({.ranks = size, .seed = seed});
      CHECK(world.run(
          [&](int rank) {
            std::vector<Map> mine = maps_of(rank, count);
            CHECK(world.call(rank, [&](Collective& collective) {
              return allreduce_direct(collective, {maps_bytes(mine), count, sizeof(Map), Reducer(&compose, false)});
            }) == MPIX_ERR_PROC_FAILED);
          },
          size / 2));
    }
  }
}

}  // namespace margay::collectives
