// The messages between nodes of the patterns in which algorithms send: what cost formulas need of a placement. Pure
// arithmetic on node numbers that all members have; O(p log p).
#pragma once

#include <cstdint>
#include <span>

namespace margay::collectives {

// The messages of one pattern that go between nodes.
struct Crossing {
  double messages = 0;  // of all ranks
  int steps = 0;        // on the longest chain of dependent messages
};

// The counts of all patterns for one communicator. All 0 on one node.
struct Crossings {
  Crossing tree;  // of rank 0's spanning tree
  // Blocks that a gather moves between nodes: for each tree edge between nodes, the ranks behind it.
  double tree_blocks = 0;
  Crossing rounds;  // of a dissemination barrier
  // Of recursive doubling, with the two steps of ranks beyond a power of two.
  Crossing doubling;
  // Of a scan by rounds, in which some ranks have no partner.
  Crossing partners;
  double chain = 0;  // of the steps from each rank to the next one
  double ring = 0;   // the same, and from the last to the first
  double pairs = 0;  // ordered pairs of ranks on different nodes
};

// Counts all patterns. `nodes[r]`: the node of rank r. Requires: at least one rank.
[[nodiscard]] Crossings crossings_of(std::span<const std::uint32_t> nodes);

// Depth of the spanning tree of `ranks` ranks, rooted at the first: dependent messages on the way to a leaf.
[[nodiscard]] int tree_depth(int ranks);
// The same where each rank asks its children one after the other, smallest subtree first, and receives from each before
// it asks the next one.
[[nodiscard]] int asked_tree_depth(int ranks);
// Sum over all edges of the ranks behind the edge.
[[nodiscard]] double tree_blocks(int ranks);
// Edges with more than `least` ranks behind them.
[[nodiscard]] double tree_edges_above(int ranks, double least);
// Sum over the rounds of a scan of the ranks that have a partner.
[[nodiscard]] double scan_partners(int ranks);
// Rounds until every rank has information of all: ceil(log2 ranks).
[[nodiscard]] int rounds_of(int ranks);

}  // namespace margay::collectives
