#include "collectives/topology/node_groups.hpp"

#include <algorithm>
#include <map>

namespace margay::collectives {

NodeGroups::NodeGroups(std::span<const std::uint32_t> nodes, int rank) {
  std::map<std::uint32_t, int> group_of_node;
  std::vector<int> members;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    const auto [found, fresh] = group_of_node.emplace(nodes[at], static_cast<int>(lowest_.size()));
    if (fresh) lowest_.push_back(static_cast<int>(at));
    if (fresh) members.push_back(0);
    group_of_.push_back(found->second);
    ++members[static_cast<std::size_t>(found->second)];
  }
  most_ = *std::max_element(members.begin(), members.end());
  my_group_ = group_of_[static_cast<std::size_t>(rank)];
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    if (group_of_[at] != my_group_) continue;
    if (static_cast<int>(at) == rank) index_ = static_cast<int>(mine_.size());
    mine_.push_back(static_cast<int>(at));
  }
}

TreePlace NodeGroups::leaders_tree(int root) const {
  const int root_group = group_of_[static_cast<std::size_t>(root)];
  const auto leader = [&](int group) { return group == root_group ? root : lowest_[static_cast<std::size_t>(group)]; };
  TreePlace place = spanning_tree(nodes(), root_group, my_group_);
  if (place.parent >= 0) place.parent = leader(place.parent);
  for (TreePlace::Child& child : place.children) child.rank = leader(child.rank);
  return place;
}

std::vector<int> NodeGroups::column() const {
  std::vector<int> ranks(lowest_.size(), -1);
  std::vector<int> before(lowest_.size(), 0);
  for (std::size_t rank = 0; rank < group_of_.size(); ++rank) {
    const auto group = static_cast<std::size_t>(group_of_[rank]);
    if (before[group]++ == index_) ranks[group] = static_cast<int>(rank);
  }
  return ranks;
}

}  // namespace margay::collectives
