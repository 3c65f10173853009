// Tests of the algorithms in two levels, flat within a node and a tree between leaders: barrier, reduction and
// broadcast on random placements.
#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/collectives/operands.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

std::vector<std::uint32_t> placement(int size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::uint64_t nodes = 1 + random() % 4;
  std::vector<std::uint32_t> placed(static_cast<std::size_t>(size));
  for (std::uint32_t& node : placed) node = static_cast<std::uint32_t>(random() % nodes);
  return placed;
}

Steps barrier_nodes(Collective& collective, const NodeGroups& groups) {
  co_await reduce_nodes(collective, groups, 0, {});
  co_await bcast_nodes(collective, groups, 0, {});
}

void sum(const void* in, void* inout, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<std::uint64_t*>(inout)[i] += static_cast<const std::uint64_t*>(in)[i];
  }
}

}  // namespace

TEST_CASE("a barrier in two levels: no rank leaves before the last one arrives, several in a row") {
  constexpr int kRounds = 3;
  for (const int size : kRankCounts) {
    for (const std::uint64_t seed : testing::Seeds(12)) {
      CAPTURE(size);
      CAPTURE(seed);
      const std::vector<std::uint32_t> nodes = placement(size, seed);
      CollectiveWorld world({.ranks = size, .seed = seed, .nodes = nodes});
      int came = 0;
      CHECK(world.run([&](int rank) {
        const NodeGroups groups(nodes, rank);
        for (int round = 1; round <= kRounds; ++round) {
          ++came;
          const auto barrier = [&](Collective& collective) { return barrier_nodes(collective, groups); };
          CHECK(world.call(rank, barrier) == MPI_SUCCESS);
          CHECK(came >= round * size);
        }
      }));
    }
  }
}

TEST_CASE("reductions to each root in turn, with the result on all ranks") {
  for (const int size : kRankCounts) {
    for (const std::uint64_t seed : testing::Seeds(8)) {
      CAPTURE(size);
      CAPTURE(seed);
      const std::vector<std::uint32_t> nodes = placement(size, seed);
      CollectiveWorld world({.ranks = size, .seed = seed, .nodes = nodes});
      CHECK(world.run([&](int rank) {
        const NodeGroups groups(nodes, rank);
        for (int call = 0; call < 4; ++call) {
          const int root = (call * 5 + static_cast<int>(seed)) % size;
          const std::size_t count = call == 3 ? 100 : 1;
          std::vector<std::uint64_t> mine(count, static_cast<std::uint64_t>(rank + call));
          auto* const bytes = reinterpret_cast<std::byte*>(mine.data());
          const auto up = [&](Collective& collective) {
            return reduce_nodes(collective, groups, root, {bytes, count, sizeof(std::uint64_t), &sum});
          };
          CHECK(world.call(rank, up) == MPI_SUCCESS);
          const auto expected = static_cast<std::uint64_t>(size * (size - 1) / 2 + size * call);
          if (rank == root) CHECK(mine == std::vector<std::uint64_t>(count, expected));
          const auto down = [&](Collective& collective) {
            return bcast_nodes(collective, groups, root, portals::Region(bytes, count * sizeof(std::uint64_t)));
          };
          CHECK(world.call(rank, down) == MPI_SUCCESS);
          CHECK(mine == std::vector<std::uint64_t>(count, expected));
        }
      }));
    }
  }
}

TEST_CASE("on one node the order of ranks is kept, for any root and any order of arrival") {
  for (const int size : kRankCounts) {
    for (const std::uint64_t seed : testing::Seeds(8)) {
      CAPTURE(size);
      CAPTURE(seed);
      const std::vector<std::uint32_t> nodes(static_cast<std::size_t>(size), 0);
      CollectiveWorld world({.ranks = size, .seed = seed});
      const int root = static_cast<int>(seed) % size;
      CHECK(world.run([&](int rank) {
        std::vector<Map> mine = maps_of(rank, 3);
        const NodeGroups groups(nodes, rank);
        const auto text = [&](Collective& collective) {
          return reduce_nodes(collective, groups, root,
                              {reinterpret_cast<std::byte*>(mine.data()), 3, sizeof(Map), &compose});
        };
        CHECK(world.call(rank, text) == MPI_SUCCESS);
        if (rank == root) CHECK(mine == composed(size, 3));
      }));
    }
  }
}

TEST_CASE("a lost rank ends every rank's barrier; its leader, or the ranks that it led, get the error") {
  for (const int size : {2, 3, 5, 8}) {
    for (const int absent : {0, size - 1}) {
      for (const std::uint64_t seed : testing::Seeds(10)) {
        CAPTURE(size);
        CAPTURE(absent);
        CAPTURE(seed);
        const std::vector<std::uint32_t> nodes = placement(size, seed);
        CollectiveWorld world({.ranks = size, .seed = seed, .nodes = nodes});
        int failed = 0;
        CHECK(world.run(
            [&](int rank) {
              const NodeGroups groups(nodes, rank);
              const auto barrier = [&](Collective& collective) { return barrier_nodes(collective, groups); };
              failed += world.call(rank, barrier) == MPIX_ERR_PROC_FAILED ? 1 : 0;
            },
            absent));
        CHECK(failed >= 1);
      }
    }
  }
}

// Fails as a hang if the third rank's row, outside a table of short rows, is dropped without a report to its call.
TEST_CASE("ranks that name different amounts of data get an error, with the table or without") {
  for (const std::uint64_t seed : testing::Seeds(20)) {
    CAPTURE(seed);
    const std::vector<std::uint32_t> nodes(3, 0);
    CollectiveWorld world({.ranks = 3, .seed = seed});
    int root_says = MPI_SUCCESS;
    CHECK(world.run([&](int rank) {
      const std::size_t count = rank == 2 ? 2 : 1;
      std::vector<std::uint64_t> mine(count, 1);
      const NodeGroups groups(nodes, rank);
      const int error_class = world.call(rank, [&](Collective& collective) {
        return reduce_nodes(collective, groups, 0,
                            {reinterpret_cast<std::byte*>(mine.data()), count, sizeof(std::uint64_t), &sum});
      });
      if (rank == 0) root_says = error_class;
    }));
    CHECK(root_says == MPI_ERR_TRUNCATE);
  }
}

// Each rank has two threads in a call each. Fails if one call takes the other's misplaced row for its own.
TEST_CASE("a row of another length ends its own call only, not the concurrent one") {
  static constexpr int kAll[] = {0, 1, 2};
  for (const std::uint64_t seed : testing::Seeds(20)) {
    CAPTURE(seed);
    CollectiveWorld world({.ranks = 3, .seed = seed});
    CHECK(world.run([&](int rank) {
      Collective faulty(world.portal(rank), world.communicator(rank));
      Collective sound(world.portal(rank), world.communicator(rank));
      std::vector<std::uint64_t> table(3, 0);
      const portals::Region rows(reinterpret_cast<std::byte*>(table.data()), sizeof(std::uint64_t) * 3);
      std::vector<std::uint64_t> mine(2, 7);
      auto* const bytes = reinterpret_cast<std::byte*>(mine.data());
      if (rank != 0) {
        const std::uint64_t length = sizeof(std::uint64_t) * (rank == 2 ? 2 : 1);
        const Send::Row row{static_cast<std::uint64_t>(rank)};
        run(Send(faulty, 0, portals::Region(bytes, length), row));
        run(Flush(faulty));
        run(Send(sound, 0, portals::Region(bytes, sizeof(std::uint64_t)), row));
        return;
      }
      std::vector<std::uint64_t> other(3, 0);
      ReceiveRows of_sound(sound, kAll, rows, sizeof(std::uint64_t));
      ReceiveRows of_faulty(faulty, kAll, portals::Region(reinterpret_cast<std::byte*>(other.data()), rows.bytes()),
                            sizeof(std::uint64_t));
      run(of_sound);
      CHECK(sound.error_class() == MPI_SUCCESS);
      CHECK(table == std::vector<std::uint64_t>{0, 7, 7});
      run(of_faulty);
      CHECK(faulty.error_class() == MPI_ERR_TRUNCATE);
    }));
  }
}

}  // namespace margay::collectives
