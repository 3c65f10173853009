#include "collectives/algorithm/bcast_nodes.hpp"

#include "collectives/algorithm/bcast_tree.hpp"

namespace margay::collectives {

void bcast_nodes(Collective& collective, const NodeGroups& groups, int root, const portals::Region& data) {
  const int leader = groups.leader(root);
  if (leader != collective.rank()) {
    collective.receive(leader, data);
    return;
  }
  if (groups.nodes() > 1) bcast_along(collective, groups.leaders_tree(root), data);
  for (const int member : groups.mine()) {
    if (member != leader) collective.send(member, data);
  }
  collective.flush();
}

}  // namespace margay::collectives
