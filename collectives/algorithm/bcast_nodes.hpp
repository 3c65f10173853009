// Broadcast in two levels: along the spanning tree of the nodes' leaders, then from each leader to the ranks of its
// node. On one node that is flat: the root sends to everybody. Cost on one node of p ranks: α + (p − 1) n β; with
// leaders, ceil(log2 nodes) (α + n β) more. For short data. Where ranks outnumber processors each of them is scheduled
// once for it, and not once for each level of a tree.
#pragma once

#include "collectives/portal/collective.hpp"
#include "collectives/topology/node_groups.hpp"

namespace margay::collectives {

// As bcast_tree.
Steps bcast_nodes(Collective& collective, const NodeGroups& groups, int root, portals::Region data);

}  // namespace margay::collectives
