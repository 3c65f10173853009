// How the patterns in which algorithms send fall on the nodes that the ranks run on: what their cost formulas need to
// know of a placement. Pure arithmetic on node numbers that all members know; O(p log p).
#pragma once

#include <cstdint>
#include <span>

namespace margay::collectives {

// Of one pattern.
struct Crossing {
  double messages = 0;  // that go between nodes
  int steps = 0;        // of those that follow each other, the most that go between nodes
};

struct Crossings {
  Crossing tree;           // rank 0's spanning tree
  double tree_blocks = 0;  // ranks behind its edges between nodes, of each edge: what a gather moves there
  Crossing rounds;         // of a barrier's dissemination
  Crossing doubling;       // recursive doubling, with the two steps of ranks beyond a power of two
  Crossing partners;       // of a scan: partners of a round that is not whole have none
  double chain = 0;        // of the steps from each rank to the next one
  double ring = 0;         // the same, and from the last to the first
  double pairs = 0;        // ordered pairs of ranks on different nodes
};

// `nodes[r]`: the node of rank r. Requires: at least one.
[[nodiscard]] Crossings crossings_of(std::span<const std::uint32_t> nodes);

// The spanning tree of `ranks`, rooted at their first: messages that follow each other on the way to a leaf.
[[nodiscard]] int tree_depth(int ranks);
// The same where each rank asks its children one after the other, the smallest subtree first, and takes what each has
// before it asks the next one.
[[nodiscard]] int asked_tree_depth(int ranks);
// The ranks behind an edge, of all edges together.
[[nodiscard]] double tree_blocks(int ranks);
// Edges that have more than `least` ranks behind them.
[[nodiscard]] double tree_edges_above(int ranks, double least);
// Ranks of a scan that have a partner, of all rounds together.
[[nodiscard]] double scan_partners(int ranks);
// Rounds until each has heard of all: ceil(log2 ranks).
[[nodiscard]] int rounds_of(int ranks);

}  // namespace margay::collectives
