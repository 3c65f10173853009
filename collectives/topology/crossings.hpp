// Counts of the messages between nodes, for each pattern in which algorithms send. Cost formulas use these counts in
// place of the placement of ranks on nodes. Pure arithmetic on node numbers that all members have; O(p log p).
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
  Crossing tree;  // the spanning tree rooted at rank 0
  // Blocks that a gather moves between nodes: the sum, over all tree edges between nodes, of the ranks behind the edge.
  double tree_blocks = 0;
  Crossing rounds;  // a dissemination barrier
  // Recursive doubling, with the two further steps if the number of ranks is not a power of two.
  Crossing doubling;
  // A scan by rounds, in which some ranks have no partner.
  Crossing partners;
  double chain = 0;  // messages from each rank to the next one
  double ring = 0;   // the same, and the message from the last rank to the first
  double pairs = 0;  // ordered pairs of ranks on different nodes
};

// Counts all patterns. `nodes[r]`: the node of rank r. Requires: at least one rank.
[[nodiscard]] Crossings crossings_of(std::span<const std::uint32_t> nodes);

// Depth of the spanning tree of `ranks` ranks, rooted at the first: the most edges on a way to a leaf.
[[nodiscard]] int tree_depth(int ranks);
// The longest chain of dependent messages of a gather along this tree with ready notices. Each rank sends a notice to
// its children one after the other, smallest subtree first, and receives from a child before it notifies the next one.
[[nodiscard]] int tree_depth_with_notices(int ranks);
// The sum, over all edges of this tree, of the ranks behind the edge.
[[nodiscard]] double tree_blocks(int ranks);
// The number of edges with more than `least` ranks behind them.
[[nodiscard]] double tree_edges_above(int ranks, double least);
// The sum, over the rounds of a scan, of the ranks that have a partner in the round.
[[nodiscard]] double scan_partners(int ranks);
// Rounds until every rank has information of all: ceil(log2 ranks).
[[nodiscard]] int rounds_of(int ranks);

}  // namespace margay::collectives
