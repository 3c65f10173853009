// Tests of hybrids over the virtual wire: every grid of up to 16 ranks, every algorithm along each dimension, any
// placement on nodes, rows of any length, also with fewer elements than ranks; successive and concurrent calls.
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/collectives/hybrid_plans.hpp"
#include "tests/collectives/operands.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

HybridRow sum_of_ranks(int ranks, std::size_t count) {
  HybridRow row(count, 0);
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < count; ++i) row[i] += word_at(rank, i);
  }
  return row;
}

// Empty, fewer elements than ranks, up to lengths above those that are sent without a request.
std::size_t any_count(std::mt19937_64& random) {
  constexpr std::size_t kCounts[] = {0, 1, 3, 17, 100, 600, 5000};
  return kCounts[random() % std::size(kCounts)];
}

// The calls of one run, the same on all ranks.
struct HybridRun {
  CollectiveWorld& world;
  const std::vector<std::uint32_t>& nodes;
  HybridPlan plan;
  std::uint64_t seed;

  void allreduce(int rank, std::size_t count) const {
    const NodeGroups groups(nodes, rank);
    HybridRow row = row_of_rank(rank, count);
    CHECK(world.call(rank, [&](Collective& collective) {
      return allreduce_hybrid(collective, groups, plan, {bytes_of_row(row), count, 8, sum_of_words()});
    }) == MPI_SUCCESS);
    CHECK(row == sum_of_ranks(world.size(), count));
  }
  // Also into noncontiguous memory.
  void bcast(int rank, int root, std::size_t count) const {
    const NodeGroups groups(nodes, rank);
    HybridRow row = rank == root ? row_of_rank(root, count) : HybridRow(count);
    const std::size_t half = count / 2;
    const std::array<portals::Buffer, 2> pieces{portals::Buffer{bytes_of_row(row), half * 8},
                                                portals::Buffer{bytes_of_row(row) + half * 8, (count - half) * 8}};
    const portals::Region data =
        seed % 2 == 0 ? portals::Region(bytes_of_row(row), count * 8) : portals::Region(std::span(pieces));
    CHECK(world.call(rank, [&](Collective& collective) {
      return bcast_hybrid(collective, groups, plan, root, data);
    }) == MPI_SUCCESS);
    CHECK(row == row_of_rank(root, count));
  }
  void reduce(int rank, int root, std::size_t count) const {
    const NodeGroups groups(nodes, rank);
    HybridRow row = row_of_rank(rank, count);
    CHECK(world.call(rank, [&](Collective& collective) {
      return reduce_hybrid(collective, groups, plan, root, {bytes_of_row(row), count, 8, sum_of_words()});
    }) == MPI_SUCCESS);
    if (rank == root) CHECK(row == sum_of_ranks(world.size(), count));
  }
  void allgather(int rank, std::size_t block) const {
    const NodeGroups groups(nodes, rank);
    HybridRow all(block * static_cast<std::size_t>(world.size()));
    const HybridRow mine = row_of_rank(rank, block);
    std::copy(mine.begin(), mine.end(), all.begin() + static_cast<std::ptrdiff_t>(block) * rank);
    CHECK(world.call(rank, [&](Collective& collective) {
      return allgather_hybrid(
          collective, groups, plan,
          {portals::Region(bytes_of_row(all) + static_cast<std::size_t>(rank) * block * 8, block * 8), block * 8,
           bytes_of_row(all)});
    }) == MPI_SUCCESS);
    HybridRow expected;
    for (int other = 0; other < world.size(); ++other) {
      const HybridRow theirs = row_of_rank(other, block);
      expected.insert(expected.end(), theirs.begin(), theirs.end());
    }
    CHECK(all == expected);
  }
  void reduce_scatter(int rank, std::span<const Slice> slices) const {
    const NodeGroups groups(nodes, rank);
    const std::size_t count = slices.back().first + slices.back().count;
    HybridRow row = row_of_rank(rank, count);
    CHECK(world.call(rank, [&](Collective& collective) {
      return reduce_scatter_hybrid(collective, groups, plan, {bytes_of_row(row), count, 8, sum_of_words()}, slices);
    }) == MPI_SUCCESS);
    const HybridRow all = sum_of_ranks(world.size(), count);
    const Slice& mine = slices[static_cast<std::size_t>(rank)];
    for (std::size_t i = mine.first; i < mine.first + mine.count; ++i) CHECK(row[i] == all[i]);
  }
};

// Slices of random lengths, without gaps.
std::vector<Slice> any_slices(int ranks, std::mt19937_64& random) {
  std::vector<Slice> slices;
  std::size_t first = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    slices.push_back({first, any_count(random) / 4});
    first += slices.back().count;
  }
  return slices;
}

// `salt` depends on the plan, so that plans have different counts and roots.
void run_all_operations(int size, const HybridPlan& plan, std::uint64_t salt, std::uint64_t seed) {
  CAPTURE(format_plan(plan));
  CAPTURE(seed);
  const std::uint64_t drawn = seed * 1000 + salt;
  const std::vector<std::uint32_t> nodes = nodes_of(size, drawn);
  CollectiveWorld world({.ranks = size, .seed = seed, .nodes = nodes});
  const HybridRun run{world, nodes, plan, drawn};
  CHECK(world.run([&](int rank) {
    std::mt19937_64 random(drawn);
    const auto any_root = [&] { return static_cast<int>(random() % static_cast<std::uint64_t>(size)); };
    run.allreduce(rank, any_count(random));
    const int from = any_root();
    run.bcast(rank, from, any_count(random));
    const int to = any_root();
    run.reduce(rank, to, any_count(random));
    run.allgather(rank, any_count(random) / 4);
    run.reduce_scatter(rank, any_slices(size, random));
    run.allreduce(rank, any_count(random));
  }));
}

// The messages and bytes that a rank sends in a call whose messages need no request from their receivers.
struct Sent {
  std::uint64_t messages;
  std::uint64_t bytes;
};
template <typename Routine>
Sent sent_by(CollectiveWorld& world, int rank, const Routine& routine) {
  const sim::WireCounts before = world.portal(rank).sent();
  CHECK(world.call(rank, routine) == MPI_SUCCESS);
  const sim::WireCounts& after = world.portal(rank).sent();
  return {after.messages - before.messages, after.bytes - before.bytes};
}

}  // namespace

TEST_CASE("all hybrids in succession, on every grid of up to 16 ranks, each dimension short or long") {
  std::uint64_t salt = 0;
  for (int size = 1; size <= (testing::kSanitized ? 9 : 16); ++size) {
    for (const HybridPlan& plan : plans_of(size, {Method::brief, Method::slices})) {
      ++salt;
      for (const std::uint64_t seed : testing::Seeds(2)) run_all_operations(size, plan, salt, seed);
    }
  }
}

TEST_CASE("hybrids with rings along some dimensions") {
  std::uint64_t salt = 0;
  for (const int size : {2, 3, 4, 6, 8, 12}) {
    for (const HybridPlan& plan : plans_of(size, {Method::brief, Method::slices, Method::bucket})) {
      bool rings = false;
      for (const HybridPlan::Dimension& each : plan.dimensions) rings |= each.method == Method::bucket;
      ++salt;
      if (!rings) continue;
      for (const std::uint64_t seed : testing::Seeds(2)) run_all_operations(size, plan, salt, seed);
    }
  }
}

TEST_CASE("each rank sends what the cost formula predicts, if lengths divide the row" *
          doctest::skip(testing::kSanitized)) {
  for (const int size : {3, 4, 6, 8, 12, 16}) {
    for (const HybridPlan& plan : plans_of(size, {Method::brief, Method::slices, Method::bucket})) {
      CAPTURE(format_plan(plan));
      const auto ranks = static_cast<std::uint64_t>(size);
      std::uint64_t left = 8 * ranks, allreduce = 0, starts = 0;
      bool pairs = true;  // so that all ranks of an exchange do the same
      const HybridPlan::Order order = plan.order();
      for (const std::uint8_t at : order.all()) {
        const auto length = static_cast<std::uint64_t>(plan.dimensions[at].length);
        const auto rounds = static_cast<std::uint64_t>(std::bit_width(length - 1));
        if (plan.dimensions[at].is_long()) {
          allreduce += 2 * (left - left / length);
          left /= length;
          starts += length - 1;
        } else {
          allreduce += rounds * left;
          pairs = pairs && std::has_single_bit(length);
          starts += rounds;
        }
      }
      const std::vector<std::uint32_t> nodes = nodes_of(size, ranks);
      const std::vector<Slice> slices = even_slices(ranks, size);
      CollectiveWorld world({.ranks = size, .nodes = nodes});
      std::uint64_t reported = 0;
      CHECK(world.run([&](int rank) {
        const NodeGroups groups(nodes, rank);
        HybridRow row = row_of_rank(rank, ranks);
        std::byte* const base = bytes_of_row(row);
        const Sent reduced = sent_by(world, rank, [&](Collective& collective) {
          return allreduce_hybrid(collective, groups, plan, {base, ranks, 8, sum_of_words()});
        });
        if (pairs) CHECK(reduced.bytes == allreduce);
        const Sent gathered = sent_by(world, rank, [&](Collective& collective) {
          return allgather_hybrid(collective, groups, plan,
                                  {portals::Region(base + static_cast<std::size_t>(rank) * 8, 8), 8, base});
        });
        CHECK(gathered.bytes == 8 * (ranks - 1));
        const Sent combined = sent_by(world, rank, [&](Collective& collective) {
          return reduce_scatter_hybrid(collective, groups, plan, {base, ranks, 8, sum_of_words()}, slices);
        });
        CHECK(combined.bytes == 8 * (ranks - 1));
        if (!plan.any_long()) CHECK(gathered.messages == starts);
        if (!plan.any_long()) CHECK(combined.messages == starts);
        reported += sent_by(world, rank, [&](Collective& collective) {
                      return bcast_hybrid(collective, groups, plan, size / 3, portals::Region(base, 8 * ranks));
                    }).bytes;
      }));
      // Every rank but the root gets every byte once.
      CHECK(reported == 8 * ranks * (ranks - 1));
    }
  }
}

TEST_CASE("an operation need not commute, if the plan permits it and nodes have the order of ranks") {
  int in_order = 0;
  for (int size = 1; size <= 16; ++size) {
    for (const HybridPlan& plan : plans_of(size, {Method::brief, Method::slices, Method::bucket})) {
      if (!plan.combines_in_order()) continue;
      for (const std::uint64_t seed : testing::Seeds(2)) {
        CAPTURE(format_plan(plan));
        CAPTURE(seed);
        std::mt19937_64 random(seed * 1000 + static_cast<std::uint64_t>(size));
        std::vector<std::uint32_t> nodes = nodes_of(size, random());
        std::ranges::sort(nodes);
        const std::size_t count = any_count(random);
        const int root = static_cast<int>(random() % static_cast<std::uint64_t>(size));
        const std::vector<Slice> slices = any_slices(size, random);
        CollectiveWorld world({.ranks = size, .seed = seed, .nodes = nodes});
        ++in_order;
        CHECK(world.run([&](int rank) {
          const NodeGroups groups(nodes, rank);
          const Reducer kept(&compose, false);
          std::vector<Map> row = maps_of(rank, count);
          CHECK(world.call(rank, [&](Collective& collective) {
            return allreduce_hybrid(collective, groups, plan, {bytes_of_row(row), count, sizeof(Map), kept});
          }) == MPI_SUCCESS);
          CHECK(row == composed(size, count));
          row = maps_of(rank, count);
          CHECK(world.call(rank, [&](Collective& collective) {
            return reduce_hybrid(collective, groups, plan, root, {bytes_of_row(row), count, sizeof(Map), kept});
          }) == MPI_SUCCESS);
          if (rank == root) CHECK(row == composed(size, count));
          if (!plan.reduce_scatters_in_order()) return;
          const std::size_t all = slices.back().first + slices.back().count;
          row = maps_of(rank, all);
          CHECK(world.call(rank, [&](Collective& collective) {
            return reduce_scatter_hybrid(collective, groups, plan, {bytes_of_row(row), all, sizeof(Map), kept}, slices);
          }) == MPI_SUCCESS);
          const std::vector<Map> result = composed(size, all);
          const Slice& mine = slices[static_cast<std::size_t>(rank)];
          for (std::size_t i = mine.first; i < mine.first + mine.count; ++i) {
            CHECK(row[i] == result[i]);
          }
        }));
      }
    }
  }
  CHECK(in_order > 100);
}

TEST_CASE("an allreduce of reals by dimensions ends with the same bits on all ranks, and in each run") {
  for (const int size : {4, 6, 8, 12}) {
    for (const HybridPlan& plan : plans_of(size, {Method::brief, Method::slices, Method::bucket})) {
      std::vector<double> first;
      for (const std::uint64_t seed : testing::Seeds(2)) {
        CAPTURE(format_plan(plan));
        CAPTURE(seed);
        const std::vector<std::uint32_t> nodes(static_cast<std::size_t>(size), 0);
        CollectiveWorld world({.ranks = size, .seed = seed});
        CHECK(world.run([&](int rank) {
          const NodeGroups groups(nodes, rank);
          std::vector<double> mine(9);
          for (std::size_t i = 0; i < mine.size(); ++i) {
            mine[i] = (rank + static_cast<int>(i)) % 3 == 0 ? 1e16 / (rank + 1) : 1.0 / (3 * rank + 7);
          }
          CHECK(world.call(rank, [&](Collective& collective) {
            return allreduce_hybrid(
                collective, groups, plan,
                {bytes_of_row(mine), mine.size(), sizeof(double), predefined_combine(MPI_SUM, MPI_DOUBLE)});
          }) == MPI_SUCCESS);
          if (first.empty()) first = mine;
          CHECK(std::memcmp(first.data(), mine.data(), mine.size() * sizeof(double)) == 0);
        }));
      }
    }
  }
}

// Section 3.3: successive operations overlap.
TEST_CASE("concurrent hybrids of different plans and roots do not mix") {
  constexpr int kSize = 8;
  constexpr std::size_t kCalls = 24;
  const std::vector<HybridPlan> plans = plans_of(kSize, {Method::brief, Method::slices, Method::bucket});
  for (const std::uint64_t seed : testing::Seeds(testing::of_threads(20))) {
    CAPTURE(seed);
    const std::vector<std::uint32_t> nodes = nodes_of(kSize, seed);
    CollectiveWorld world({.ranks = kSize, .seed = seed, .nodes = nodes});
    CHECK(world.run([&](int rank) {
      const NodeGroups groups(nodes, rank);
      const auto count_of = [](std::size_t call) { return 5 + call * 9; };
      const auto root_of = [](std::size_t call) { return static_cast<int>(call * 3 % kSize); };
      std::vector<HybridRow> rows;
      std::vector<std::unique_ptr<StoppingCall>> calls;
      for (std::size_t call = 0; call < kCalls; ++call) rows.push_back(row_of_rank(rank, count_of(call)));
      for (std::size_t call = 0; call < kCalls; ++call) {
        const HybridPlan& plan = plans[(seed * 31 + call * 7) % plans.size()];
        calls.push_back(world.begin_call(rank, [&, call, plan](Collective& collective) {
          std::byte* const row = bytes_of_row(rows[call]);
          if (call % 2 == 0) {
            return allreduce_hybrid(collective, groups, plan, {row, count_of(call), 8, sum_of_words()});
          }
          return bcast_hybrid(collective, groups, plan, root_of(call), portals::Region(row, count_of(call) * 8));
        }));
      }
      for (std::size_t call = 0; call < kCalls; ++call) {
        const std::size_t at = (call * 5 + seed) % kCalls;
        world.wait_for(rank, *calls[at]);
        CHECK(calls[at]->error_class() == MPI_SUCCESS);
        CHECK(rows[at] == (at % 2 == 0 ? sum_of_ranks(kSize, count_of(at)) : row_of_rank(root_of(at), count_of(at))));
      }
    }));
  }
}

}  // namespace margay::collectives
