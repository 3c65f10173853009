#include "collectives/topology/node_groups.hpp"

#include <algorithm>
#include <map>

namespace margay::collectives {

NodeGroups::NodeGroups(std::span<const std::uint32_t> nodes, int rank) {
  std::map<std::uint32_t, int> group_of_node;
  std::vector<int> members;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    const auto [found, fresh] = group_of_node.emplace(nodes[at], static_cast<int>(lowest_.size()));
    // Ranks ascend, so the first one of a node is its lowest.
    if (fresh) lowest_.push_back(static_cast<int>(at));
    if (fresh) members.push_back(0);
    group_of_.push_back(found->second);
    index_of_.push_back(members[static_cast<std::size_t>(found->second)]++);
  }
  most_ = *std::max_element(members.begin(), members.end());
  my_group_ = group_of_[static_cast<std::size_t>(rank)];
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    if (group_of_[at] != my_group_) continue;
    if (static_cast<int>(at) == rank) index_ = static_cast<int>(mine_.size());
    mine_.push_back(static_cast<int>(at));
  }
  // So far index_of_ has a rank's index on its node; below, the number of ranks on earlier nodes is added. The prefix
  // sums are these numbers: members[g] becomes the number of ranks on the nodes up to g.
  for (std::size_t group = 1; group < members.size(); ++group) members[group] += members[group - 1];
  by_node_.resize(nodes.size());
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    if (group_of_[at] > 0) index_of_[at] += members[static_cast<std::size_t>(group_of_[at] - 1)];
    by_node_[static_cast<std::size_t>(index_of_[at])] = static_cast<int>(at);
  }
  in_rank_order_ = std::ranges::is_sorted(by_node_);
}

TreePosition NodeGroups::leaders_tree(int root) const {
  const int root_group = group_of_[static_cast<std::size_t>(root)];
  const auto leader = [&](int group) { return group == root_group ? root : lowest_[static_cast<std::size_t>(group)]; };
  return of_ranks(spanning_tree(nodes(), root_group, my_group_), leader);
}

}  // namespace margay::collectives
