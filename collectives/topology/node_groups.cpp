#include "collectives/topology/node_groups.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace margay::collectives {

RanksByNode::RanksByNode(std::span<const std::uint32_t> nodes) : index_of_(nodes.size()), by_node_(nodes.size()) {
  std::unordered_map<std::uint32_t, int> number_of_node;
  std::vector<int> members;
  node_of_.reserve(nodes.size());
  for (const std::uint32_t node : nodes) {
    // Ranks ascend, so a node's first one is its lowest.
    const auto [found, fresh] = number_of_node.emplace(node, static_cast<int>(members.size()));
    if (fresh) members.push_back(0);
    node_of_.push_back(found->second);
    ++members[static_cast<std::size_t>(found->second)];
  }
  most_ = *std::ranges::max_element(members);
  first_.resize(members.size() + 1);
  std::partial_sum(members.begin(), members.end(), first_.begin() + 1);
  std::vector<int> next = first_;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    index_of_[rank] = next[static_cast<std::size_t>(node_of_[rank])]++;
    by_node_[static_cast<std::size_t>(index_of_[rank])] = static_cast<int>(rank);
  }
  in_rank_order_ = std::ranges::is_sorted(by_node_);
}

TreePosition NodeGroups::leaders_tree(int root) const {
  const int root_node = ranks_->node_of(root);
  const auto leader = [&](int node) { return node == root_node ? root : ranks_->on(node).front(); };
  return of_ranks(spanning_tree(nodes(), root_node, my_node_), leader);
}

}  // namespace margay::collectives
