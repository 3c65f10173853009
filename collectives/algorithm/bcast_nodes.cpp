// Broadcast in two levels: along the spanning tree of the nodes' leaders, then from each leader to the ranks of its
// node. On one node that is flat: the root sends to everybody. Cost on one node of p ranks: α + (p − 1) n β; with
// leaders, ceil(log2 nodes) (α + n β) more. For short data. Where ranks outnumber processors each of them is scheduled
// once for it, and not once for each level of a tree.

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/cost/parts.hpp"

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

extern constinit const Row<BcastCall> bcast_by_nodes{
    {Algorithm::nodes, in_any_order_between_nodes, [](const Ask& ask) { return nodes_out(ask.facts, ask.n()); }},
    [](Collective& collective, const Means& means, const BcastCall& call) {
      return bcast_nodes(collective, means.groups, call.root, call.data);
    }};

}  // namespace margay::collectives
