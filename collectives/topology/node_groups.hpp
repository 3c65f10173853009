// The members of a communicator, grouped by the node that they run on. Pure arithmetic on node numbers that all members
// have.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "collectives/topology/members.hpp"

namespace margay::collectives {

// All members' grouping, the same for each member: thousands of ranks in one process share it. Immutable. Takes 16
// bytes for each rank; computed in O(p log n) for p ranks on n nodes.
class RanksByNode {
 public:
  // `nodes[r]`: the node of rank r. Requires: at least one rank.
  explicit RanksByNode(std::span<const std::uint32_t> nodes);

  // Nodes are numbered in the order of their lowest ranks.
  [[nodiscard]] int nodes() const { return static_cast<int>(first_.size()) - 1; }
  // The largest number of ranks on one node.
  [[nodiscard]] int most() const { return most_; }
  // Whether every node has the same number of ranks.
  [[nodiscard]] bool even() const { return most_ * nodes() == static_cast<int>(by_node_.size()); }
  // The number of a rank's node.
  [[nodiscard]] int node_of(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
  // All ranks, node after node, ascending on each; and the part of one node.
  [[nodiscard]] std::span<const int> all() const { return by_node_; }
  [[nodiscard]] std::span<const int> on(int node) const {
    const auto first = static_cast<std::size_t>(first_[static_cast<std::size_t>(node)]);
    return all().subspan(first, static_cast<std::size_t>(first_[static_cast<std::size_t>(node) + 1]) - first);
  }
  // A rank's index in all().
  [[nodiscard]] int index(int rank) const { return index_of_[static_cast<std::size_t>(rank)]; }
  // Whether all() is the order of ranks.
  [[nodiscard]] bool in_rank_order() const { return in_rank_order_; }

 private:
  std::vector<int> node_of_;   // by rank
  std::vector<int> index_of_;  // by rank
  std::vector<int> by_node_;
  // By node: the index of its lowest rank in by_node_; at the end, the number of ranks.
  std::vector<int> first_;
  int most_ = 0;
  bool in_rank_order_ = true;
};

// The grouping, as one member sees it.
class NodeGroups {
 public:
  // `rank`: this member's.
  NodeGroups(std::shared_ptr<const RanksByNode> ranks, int rank)
      : ranks_(std::move(ranks)), rank_(rank), my_node_(ranks_->node_of(rank)) {}
  // The same for a grouping of its own. `nodes[r]`: the node of rank r. Requires: 0 <= rank < nodes.size().
  NodeGroups(std::span<const std::uint32_t> nodes, int rank)
      : NodeGroups(std::make_shared<const RanksByNode>(nodes), rank) {}

  // The number of nodes.
  [[nodiscard]] int nodes() const { return ranks_->nodes(); }
  // The largest number of ranks on one node.
  [[nodiscard]] int most() const { return ranks_->most(); }
  // The ranks of this rank's node, ascending, and this rank's index among them.
  [[nodiscard]] std::span<const int> mine() const { return ranks_->on(my_node_); }
  [[nodiscard]] int index() const { return ranks_->index(rank_) - ranks_->index(mine().front()); }
  // Whether every node has the same number of ranks.
  [[nodiscard]] bool even() const { return ranks_->even(); }
  // by_node(): all ranks, node after node. Nodes are in the order of their lowest ranks; on each node ranks ascend.
  // index_by_node(): a rank's index in by_node().
  [[nodiscard]] std::span<const int> by_node() const { return ranks_->all(); }
  [[nodiscard]] int index_by_node(int rank) const { return ranks_->index(rank); }
  // Whether by_node() is the order of ranks.
  [[nodiscard]] bool in_rank_order() const { return ranks_->in_rank_order(); }
  // This rank.
  [[nodiscard]] int rank() const { return rank_; }
  // The leader of this rank's node: `root` on its own node, elsewhere the node's lowest rank.
  [[nodiscard]] int leader(int root) const { return ranks_->node_of(root) == my_node_ ? root : mine().front(); }
  // This rank's position in the leaders' spanning tree, rooted at `root`, in ranks of the communicator. Requires: this
  // rank is a leader.
  [[nodiscard]] TreePosition leaders_tree(int root) const;

 private:
  std::shared_ptr<const RanksByNode> ranks_;
  int rank_;
  // The number of this rank's node.
  int my_node_;
};

}  // namespace margay::collectives
