// Tests of the crossings of patterns between nodes, against the patterns themselves.
#include "collectives/topology/crossings.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/topology/members.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {

TEST_CASE("the edges of a spanning tree between nodes, with their blocks and depths, are those of its ranks") {
  for (const std::uint64_t seed : testing::Seeds(300)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const int size = 1 + static_cast<int>(random() % 70);
    std::vector<std::uint32_t> nodes(static_cast<std::size_t>(size));
    for (std::uint32_t& node : nodes) node = static_cast<std::uint32_t>(random() % (1 + seed % 5));
    double edges = 0, blocks_between = 0, blocks = 0;
    int deepest = 0, most = 0, above = 0;
    for (int rank = 0; rank < size; ++rank) {
      int steps = 0, depth = 0;
      for (int at = rank; at != 0; ++depth) {
        const TreePosition position = spanning_tree(size, 0, at);
        const bool crosses = nodes[static_cast<std::size_t>(at)] != nodes[static_cast<std::size_t>(position.parent)];
        steps += crosses ? 1 : 0;
        if (at == rank) {
          const int behind = position.last - position.first + 1;
          blocks += behind;
          above += behind > 3 ? 1 : 0;
          if (crosses) ++edges;
          if (crosses) blocks_between += behind;
        }
        at = position.parent;
      }
      deepest = std::max(deepest, depth);
      most = std::max(most, steps);
    }
    const Crossings crossings = crossings_of(nodes);
    CHECK(crossings.tree.messages == edges);
    CHECK(crossings.tree.steps == most);
    CHECK(crossings.tree_blocks == blocks_between);
    CHECK(tree_blocks(size) == blocks);
    CHECK(tree_edges_above(size, 3) == above);
    CHECK(tree_depth(size) == deepest);
    double pairs = 0;
    for (const std::uint32_t one : nodes) {
      pairs += static_cast<double>(std::ranges::count_if(nodes, [&](std::uint32_t other) { return other != one; }));
    }
    CHECK(crossings.pairs == pairs);
  }
}

TEST_CASE("on one node no message goes between nodes; with one rank on each, all do") {
  CHECK(crossings_of(std::vector<std::uint32_t>(9, 5)).pairs == 0);
  const Crossings each = crossings_of(std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  CHECK(each.ring == 5);
  CHECK(each.chain == 4);
  CHECK(each.rounds.messages == 15);
  CHECK(each.rounds.steps == 3);
  CHECK(each.partners.messages == scan_partners(5));
  CHECK(each.doubling.messages == 2 + 8);
}

}  // namespace margay::collectives
