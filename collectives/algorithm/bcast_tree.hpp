// Broadcast along the minimum spanning tree (paper 001, section 3.1). Cost: ceil(log2 p) (α + n β).
#pragma once

#include "collectives/portal/collective.hpp"
#include "collectives/topology/spanning_tree.hpp"

namespace margay::collectives {

// `data`: the root's is sent, the others' is filled; the same number of bytes everywhere.
Steps bcast_tree(Collective& collective, int root, portals::Region data);
// The same along a tree that is given, of some of the ranks.
Steps bcast_along(Collective& collective, TreePlace place, portals::Region data);

}  // namespace margay::collectives
