// Tests of grids of ranks: every rank has one position, lines and planes are as defined; the candidate dimensions, and
// the order in which plans use them.
#include "collectives/topology/grid.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "tests/collectives/hybrid_plans.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

int product(const std::vector<int>& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), 1, std::multiplies<>());
}

HybridPlan plan_with(const std::vector<HybridPlan::Dimension>& dimensions) {
  HybridPlan plan;
  std::copy(dimensions.begin(), dimensions.end(), plan.dimensions.begin());
  return plan;
}

}  // namespace

TEST_CASE("every rank of a grid has one position, and its lines are the ranks that differ in one coordinate") {
  for (int ranks = 1; ranks <= 16; ++ranks) {
    for (const HybridPlan& plan : plans_of(ranks, {Method::slices})) {
      for (const std::uint64_t seed : testing::Seeds(4)) {
        CAPTURE(format_plan(plan));
        CAPTURE(seed);
        const std::vector<std::uint32_t> nodes = nodes_of(ranks, seed);
        std::set<Grid::Position> places;
        for (int rank = 0; rank < ranks; ++rank) {
          const NodeGroups groups(nodes, rank);
          const Grid grid(groups, plan);
          places.insert(grid.mine());
          CHECK(grid.rank_at(grid.mine()) == rank);
          for (std::size_t dimension = 0; dimension < Grid::kDimensions; ++dimension) {
            const Members line = grid.line(dimension);
            REQUIRE(line.size() == static_cast<std::size_t>(plan.dimensions[dimension].length));
            CHECK(line.rank_of(line.me()) == rank);
            for (std::size_t at = 0; at < line.size(); ++at) {
              Grid::Position position = grid.mine();
              position[dimension] = static_cast<int>(at);
              CHECK(grid.position_of(line.rank_of(at)) == position);
            }
          }
        }
        CHECK(places.size() == static_cast<std::size_t>(ranks));
      }
    }
  }
}

TEST_CASE("a node's ranks lie along the first dimension if all nodes have equally many, in any placement") {
  for (const bool dealt : {false, true}) {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t rank = 0; rank < 12; ++rank) nodes.push_back(dealt ? rank % 3 : rank / 4);
    for (int rank = 0; rank < 12; ++rank) {
      const NodeGroups groups(nodes, rank);
      CHECK(groups.in_rank_order() != dealt);
      const Grid grid(groups, plan_with({{4}, {3}}));
      const Members inside = grid.line(0);
      REQUIRE(inside.size() == groups.mine().size());
      for (std::size_t at = 0; at < inside.size(); ++at) CHECK(inside.rank_of(at) == groups.mine()[at]);
      std::set<std::uint32_t> reached;
      for (std::size_t at = 0; at < 3; ++at) {
        reached.insert(nodes[static_cast<std::size_t>(grid.line(1).rank_of(at))]);
      }
      CHECK(reached.size() == 3);
    }
  }
}

TEST_CASE("the list of ranks by node and the position of each rank in it are inverse") {
  for (const std::uint64_t seed : testing::Seeds(50)) {
    CAPTURE(seed);
    const std::vector<std::uint32_t> nodes = nodes_of(1 + static_cast<int>(seed % 20), seed);
    const NodeGroups groups(nodes, 0);
    std::vector<std::uint32_t> seen;
    for (std::size_t at = 0; at < nodes.size(); ++at) {
      const int rank = groups.by_node()[at];
      CHECK(groups.index_by_node(rank) == static_cast<int>(at));
      const std::uint32_t node = nodes[static_cast<std::size_t>(rank)];
      if (seen.empty() || seen.back() != node) {
        CHECK(std::ranges::find(seen, node) == seen.end());
        seen.push_back(node);
      }
    }
    CHECK(groups.in_rank_order() == std::ranges::is_sorted(groups.by_node()));
  }
}

TEST_CASE("a plane has the ranks with equal coordinates except in its free dimensions, the lowest of these fastest") {
  const std::vector<std::uint32_t> nodes(12, 0);
  const NodeGroups groups(nodes, 7);
  const Grid grid(groups, plan_with({{2}, {3}, {2}}));
  CHECK(grid.mine() == Grid::Position{1, 0, 1, 0});
  using Dimensions = std::vector<std::uint8_t>;
  CHECK(grid.plane(grid.mine(), Dimensions{}) == std::vector<int>{7});
  CHECK(grid.plane(grid.mine(), Dimensions{1}) == std::vector<int>{7, 9, 11});
  CHECK(grid.plane(grid.mine(), Dimensions{2, 1}) == std::vector<int>{1, 3, 5, 7, 9, 11});
  CHECK(grid.plane(grid.mine(), Dimensions{0, 2}) == std::vector<int>{0, 1, 6, 7});
}

TEST_CASE("candidate grids: all for a small number, few for any other, a node's ranks before the nodes") {
  using Cuts = std::vector<std::vector<int>>;
  CHECK(grid_cuts(1, 1).empty());
  CHECK(grid_cuts(7, 1) == Cuts{{7}});
  CHECK(grid_cuts(1, 6) == Cuts{{6}, {2, 3}});
  CHECK(grid_cuts(16, 1) == Cuts{{16}, {4, 4}, {2, 8}, {2, 2, 4}, {2, 2, 2, 2}});
  CHECK(grid_cuts(4, 3) == Cuts{{4, 3}, {2, 2, 3}});
  CHECK(grid_cuts(3, 4) == Cuts{{3, 4}, {3, 2, 2}});
  for (const int on_node : {1, 2, 6, 64, 1024, 5040, 1 << 20, 7919}) {
    for (const int nodes : {1, 2, 12, 360, 1009}) {
      CAPTURE(on_node);
      CAPTURE(nodes);
      const Cuts cuts = grid_cuts(on_node, nodes);
      CHECK(cuts.size() <= kGridCuts);
      CHECK(std::set<std::vector<int>>(cuts.begin(), cuts.end()).size() == cuts.size());
      std::vector<int> whole;
      for (const int length : {on_node, nodes}) {
        if (length > 1) whole.push_back(length);
      }
      CHECK((whole.empty() || cuts.front() == whole));
      for (const std::vector<int>& cut : cuts) {
        CHECK(cut.size() <= HybridPlan::kMaxDimensions);
        CHECK(*std::ranges::min_element(cut) > 1);
        // The dimensions of a node come first, and cover it.
        std::size_t at = 0;
        int inside = 1;
        while (at < cut.size() && inside < on_node) inside *= cut[at++];
        CHECK(inside == on_node);
        CHECK(product({cut.begin() + static_cast<std::ptrdiff_t>(at), cut.end()}) == nodes);
      }
    }
  }
}

TEST_CASE("a plan does its long dimensions first, and returns whether it combines neighbours only") {
  constexpr Method kShort = Method::brief;
  constexpr Method kLong = Method::slices;
  const auto order_of = [](const HybridPlan& plan) {
    const HybridPlan::Order order = plan.order();
    return std::vector<int>(order.all().begin(), order.all().end());
  };
  const HybridPlan mixed = plan_with({{2, kShort}, {1, kLong}, {3, kLong}, {2, kShort}});
  CHECK(order_of(mixed) == std::vector<int>{2, 0, 3});
  CHECK(mixed.ranks() == 12);
  CHECK(mixed.any_long());
  CHECK_FALSE(mixed.combines_in_order());
  CHECK_FALSE(mixed.reduce_scatters_in_order());

  const HybridPlan in_order = plan_with({{2, kLong}, {3, kShort}});
  CHECK(in_order.combines_in_order());
  CHECK_FALSE(in_order.reduce_scatters_in_order());
  const HybridPlan all_long = plan_with({{2, kLong}, {3, kLong}});
  CHECK(all_long.combines_in_order());
  CHECK(all_long.reduce_scatters_in_order());
  const HybridPlan ring = plan_with({{2, kLong}, {3, Method::bucket}});
  CHECK_FALSE(ring.combines_in_order());
  CHECK_FALSE(ring.reduce_scatters_in_order());
  CHECK_FALSE(plan_with({{2, kShort}, {1, kLong}}).any_long());
}

}  // namespace margay::collectives
