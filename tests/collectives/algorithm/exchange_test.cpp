// Tests of exchanges between partners: no rank leaves a barrier early; an allreduce combines in the order of ranks and
// gives the same bits on all of them.
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/collectives/operands.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

void add(const void* in, void* inout, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<double*>(inout)[i] += static_cast<const double*>(in)[i];
  }
}

}  // namespace

TEST_CASE("a barrier by exchange: no rank leaves before the last one arrives, several in a row") {
  constexpr int kRounds = 3;
  for (const int size : kRankCounts) {
    for (const std::uint64_t seed : testing::Seeds(12)) {
      CAPTURE(size);
      CAPTURE(seed);
      CollectiveWorld world({.ranks = size, .seed = seed});
      int came = 0;
      CHECK(world.run([&](int rank) {
        for (int round = 1; round <= kRounds; ++round) {
          ++came;
          CHECK(world.call(rank, [](Collective& collective) { return barrier_exchange(collective); }) == MPI_SUCCESS);
          CHECK(came >= round * size);
        }
      }));
    }
  }
}

TEST_CASE("an allreduce by exchange keeps the order of ranks, of any length") {
  for (const int size : kRankCounts) {
    for (const std::uint64_t seed : testing::Seeds(10)) {
      CAPTURE(size);
      CAPTURE(seed);
      // Empty, one cell, more than a frame's scratch, more than the handshake's limit.
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{40}, std::size_t{2000}}) {
        if (count == 2000 && seed > 2) continue;
        CollectiveWorld world({.ranks = size, .seed = seed});
        CHECK(world.run([&](int rank) {
          std::vector<Map> mine = maps_of(rank, count);
          const int error_class = world.call(rank, [&](Collective& collective) {
            return allreduce_exchange(collective,
                                      {reinterpret_cast<std::byte*>(mine.data()), count, sizeof(Map), &compose});
          });
          CHECK(mine == composed(size, count));
          CHECK(error_class == MPI_SUCCESS);
        }));
      }
    }
  }
}

TEST_CASE("an allreduce of reals by exchange ends with the same bits on all ranks, and in each run") {
  for (const int size : kRankCounts) {
    std::vector<double> first;
    for (const std::uint64_t seed : testing::Seeds(6)) {
      CollectiveWorld world({.ranks = size, .seed = seed});
      std::vector<double> results(static_cast<std::size_t>(size));
      CHECK(world.run([&](int rank) {
        double mine = rank % 3 == 0 ? 1e16 / (rank + 1) : 1.0 / (3 * rank + 7);
        const int error_class = world.call(rank, [&mine](Collective& collective) {
          return allreduce_exchange(collective, {reinterpret_cast<std::byte*>(&mine), 1, sizeof mine, &add});
        });
        CHECK(error_class == MPI_SUCCESS);
        results[static_cast<std::size_t>(rank)] = mine;
      }));
      if (first.empty()) first.assign(results.size(), results[0]);
      CHECK(std::memcmp(first.data(), results.data(), results.size() * sizeof(double)) == 0);
    }
  }
}

TEST_CASE("a lost rank ends every rank's exchange with an error: its part is in every result") {
  for (const int size : {2, 3, 5, 8}) {
    for (const std::uint64_t seed : testing::Seeds(10)) {
      CAPTURE(size);
      CAPTURE(seed);
      CollectiveWorld world({.ranks = size, .seed = seed});
      int failed = 0;
      CHECK(world.run(
          [&](int rank) {
            std::vector<Map> mine = maps_of(rank, 1);
            const int error_class = world.call(rank, [&mine](Collective& collective) {
              return allreduce_exchange(collective,
                                        {reinterpret_cast<std::byte*>(mine.data()), 1, sizeof(Map), &compose});
            });
            failed += error_class == MPIX_ERR_PROC_FAILED ? 1 : 0;
          },
          size / 2));
      CHECK(failed == size - 1);
    }
  }
}

}  // namespace margay::collectives
