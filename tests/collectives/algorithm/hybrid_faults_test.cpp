// Tests of faults in hybrids over the virtual wire: a lost rank, and ranks that name different amounts of data. No rank
// waits for ever, and each rank that lacks data gets an error.
#include <array>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/collectives/hybrid_plans.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {

TEST_CASE("a lost rank ends every hybrid that needs its part with an error, and hangs none") {
  for (const int size : {2, 4, 6, 8}) {
    for (const HybridPlan& plan : plans_of(size, {Method::brief, Method::slices, Method::bucket})) {
      for (const std::uint64_t seed : testing::Seeds(testing::of_threads(6))) {
        CAPTURE(format_plan(plan));
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const std::vector<std::uint32_t> nodes = nodes_of(size, random());
        const int absent = static_cast<int>(random() % static_cast<std::uint64_t>(size));
        const int other = (absent + 1) % size;
        const std::size_t count = seed % 2 == 0 ? 40 : 5000;
        CollectiveWorld world({.ranks = size, .seed = seed, .nodes = nodes});
        CHECK(world.run(
            [&](int rank) {
              const NodeGroups groups(nodes, rank);
              HybridRow row = row_of_rank(rank, count * static_cast<std::size_t>(size));
              std::byte* const base = bytes_of_row(row);
              const std::vector<Slice> slices = even_slices(count, size);
              const auto call = [&](auto begin) {
                return world.call(rank, [&](Collective& collective) { return begin(collective); });
              };
              CHECK(call([&](Collective& collective) {
                      return allreduce_hybrid(collective, groups, plan, {base, count, 8, sum_of_words()});
                    }) == MPIX_ERR_PROC_FAILED);
              CHECK(call([&](Collective& collective) {
                      return allgather_hybrid(
                          collective, groups, plan,
                          {portals::Region(base + static_cast<std::size_t>(rank) * count * 8, count * 8), count * 8,
                           base});
                    }) == MPIX_ERR_PROC_FAILED);
              CHECK(call([&](Collective& collective) {
                      return reduce_scatter_hybrid(collective, groups, plan, {base, count, 8, sum_of_words()}, slices);
                    }) == MPIX_ERR_PROC_FAILED);
              CHECK(call([&](Collective& collective) {
                      return bcast_hybrid(collective, groups, plan, absent, portals::Region(base, count * 8));
                    }) == MPIX_ERR_PROC_FAILED);
              const int reduced = call([&](Collective& collective) {
                return reduce_hybrid(collective, groups, plan, other, {base, count, 8, sum_of_words()});
              });
              if (rank == other) CHECK(reduced == MPIX_ERR_PROC_FAILED);
              // A rank that does not depend on the lost one may have all data.
              static_cast<void>(call([&](Collective& collective) {
                return bcast_hybrid(collective, groups, plan, other, portals::Region(base, count * 8));
              }));
            },
            absent));
      }
    }
  }
}

TEST_CASE("a rank that names another amount of data gets an error or its partners do, and no rank waits for ever") {
  for (const int size : {2, 4, 6}) {
    for (const HybridPlan& plan : plans_of(size, {Method::brief, Method::slices})) {
      for (const std::uint64_t seed : testing::Seeds(3)) {
        CAPTURE(format_plan(plan));
        CAPTURE(seed);
        const std::vector<std::uint32_t> nodes(static_cast<std::size_t>(size), 0);
        CollectiveWorld world({.ranks = size, .seed = seed, .nodes = nodes});
        constexpr int kCalls = 5;
        std::array<int, kCalls> reported{};
        CHECK(world.run([&](int rank) {
          const NodeGroups groups(nodes, rank);
          const std::size_t times = seed == 1 ? 1 : 900;
          const std::size_t count = static_cast<std::size_t>(rank == size / 2 ? 2 * size : size) * times;
          HybridRow row = row_of_rank(rank, count * static_cast<std::size_t>(size));
          std::byte* const base = bytes_of_row(row);
          const std::vector<Slice> slices = even_slices(count, size);
          for (int call = 0; call < kCalls; ++call) {
            const int error_class = world.call(rank, [&](Collective& collective) {
              switch (call) {
                case 0:
                  return allreduce_hybrid(collective, groups, plan, {base, count, 8, sum_of_words()});
                case 1:
                  return bcast_hybrid(collective, groups, plan, 0, portals::Region(base, count * 8));
                case 2:
                  return reduce_hybrid(collective, groups, plan, 0, {base, count, 8, sum_of_words()});
                case 3:
                  return allgather_hybrid(
                      collective, groups, plan,
                      {portals::Region(base + static_cast<std::size_t>(rank) * count * 8, count * 8), count * 8, base});
                default:
                  return reduce_scatter_hybrid(collective, groups, plan, {base, count, 8, sum_of_words()}, slices);
              }
            });
            if (error_class == MPI_ERR_TRUNCATE) ++reported[static_cast<std::size_t>(call)];
          }
        }));
        for (const int of_call : reported) CHECK(of_call > 0);
      }
    }
  }
}

// Fails as a deadlock, or with a piece of others' data, if slices are sent without a request.
TEST_CASE("a rank that names a short length in a long broadcast does not get a slice of it") {
  constexpr int kSize = 4;
  constexpr int kOther = 2;  // the root's child in the tree too
  for (const HybridPlan& plan : plans_of(kSize, {Method::slices, Method::bucket})) {
    for (const std::uint64_t seed : testing::Seeds(10)) {
      CAPTURE(format_plan(plan));
      CAPTURE(seed);
      const std::vector<std::uint32_t> nodes(kSize, 0);
      CollectiveWorld world({.ranks = kSize, .seed = seed, .nodes = nodes});
      CHECK(world.run([&](int rank) {
        const NodeGroups groups(nodes, rank);
        HybridRow row = row_of_rank(rank, 2 * kSize);
        const portals::Region all(bytes_of_row(row), row.size() * 8);
        const portals::Region mine = rank == kOther ? all.slice(0, all.bytes() / kSize) : all;
        Collective collective(world.portal(rank), world.communicator(rank), {.bytes = mine.bytes()});
        run(rank == kOther ? bcast_tree(collective, 0, mine) : bcast_hybrid(collective, groups, plan, 0, mine));
        run(Flush(collective));
        CHECK(collective.error_class() == MPI_ERR_TRUNCATE);
      }));
    }
  }
}

}  // namespace margay::collectives
