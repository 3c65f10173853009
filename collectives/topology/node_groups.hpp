// The members of a communicator, grouped by the node that they run on. Pure arithmetic on node numbers that all members
// have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/topology/members.hpp"

namespace margay::collectives {

// The grouping, as one member sees it. Computed once for a communicator, in O(p log p).
class NodeGroups {
 public:
  // `nodes[r]`: the node of rank r; `rank`: this member's. Requires: 0 <= rank < nodes.size().
  NodeGroups(std::span<const std::uint32_t> nodes, int rank);

  // The number of nodes.
  [[nodiscard]] int nodes() const { return static_cast<int>(lowest_.size()); }
  // The largest number of ranks on one node.
  [[nodiscard]] int most() const { return most_; }
  // The ranks of this rank's node, ascending, and this rank's index among them.
  [[nodiscard]] std::span<const int> mine() const { return mine_; }
  [[nodiscard]] int index() const { return index_; }
  // Whether every node has the same number of ranks.
  [[nodiscard]] bool even() const { return most_ * nodes() == static_cast<int>(group_of_.size()); }
  // by_node(): all ranks, node after node. Nodes are in the order of their lowest ranks; on each node ranks ascend.
  // index_by_node(): a rank's index in by_node().
  [[nodiscard]] std::span<const int> by_node() const { return by_node_; }
  [[nodiscard]] int index_by_node(int rank) const { return index_of_[static_cast<std::size_t>(rank)]; }
  // Whether by_node() is the order of ranks.
  [[nodiscard]] bool in_rank_order() const { return in_rank_order_; }
  // This rank.
  [[nodiscard]] int rank() const { return mine_[static_cast<std::size_t>(index_)]; }
  // The leader of this rank's node: `root` on its own node, elsewhere the node's lowest rank.
  [[nodiscard]] int leader(int root) const { return on_my_node(root) ? root : mine_.front(); }
  // This rank's position in the leaders' spanning tree, rooted at `root`, in ranks of the communicator. Requires: this
  // rank is a leader.
  [[nodiscard]] TreePosition leaders_tree(int root) const;

 private:
  [[nodiscard]] bool on_my_node(int rank) const { return group_of_[static_cast<std::size_t>(rank)] == my_group_; }

  std::vector<int> lowest_;    // lowest rank of each node, ascending
  std::vector<int> group_of_;  // by rank
  // All ranks, node by node; index_of_: the inverse.
  std::vector<int> by_node_;
  std::vector<int> index_of_;  // by rank
  // This node's ranks, ascending; `index_`: this rank's position among them.
  std::vector<int> mine_;
  // The index of this rank's node in lowest_.
  int my_group_ = 0;
  int index_ = 0;
  int most_ = 0;
  bool in_rank_order_ = true;
};

}  // namespace margay::collectives
