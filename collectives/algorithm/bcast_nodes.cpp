#include "collectives/algorithm/bcast_nodes.hpp"

#include "collectives/algorithm/bcast_tree.hpp"

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
