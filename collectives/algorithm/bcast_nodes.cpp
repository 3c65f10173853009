// Broadcast in two levels: along the spanning tree of the nodes' leaders, then from each leader to the ranks of its
// node. On one node that is flat: the root sends to everybody. Cost on one node of p ranks: α + (p − 1) n β; with
// leaders, ceil(log2 nodes) (α + n β) more. For short data. Where ranks outnumber processors each of them is scheduled
// once for it, and not once for each level of a tree.

#include "collectives/algorithm/algorithms.hpp"

namespace margay::collectives {

Steps bcast_nodes(Collective& collective, const NodeGroups& groups, int root, portals::Region data) {
  const int leader = groups.leader(root);
  if (leader != collective.rank()) {
    co_await Receive(collective, leader, data);
    co_return;
  }
  if (groups.nodes() > 1) co_await bcast_along(collective, groups.leaders_tree(root), data);
  for (const int member : groups.mine()) {
    if (member != leader) co_await Send(collective, member, data);
  }
  co_await Flush(collective);
}

}  // namespace margay::collectives
