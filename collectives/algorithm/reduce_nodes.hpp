// Reduction in two levels: the ranks of a node send to one of them, its leader, and the leaders reduce along the
// spanning tree. On one node that is flat: everybody sends to the root. Cost on one node of p ranks: α + (p − 1)(n β +
// n γ); with leaders, ceil(log2 nodes) (α + n β + n γ) more. For short data. Where ranks outnumber processors each of
// them is scheduled once for it, and not once for each level of a tree.
//
// A node's parts are combined in the order of ranks, so on one node the operation need not be commutative; over several
// it must be.
#pragma once

#include <cstddef>

#include "collectives/op/reducer.hpp"
#include "collectives/portal/collective.hpp"
#include "collectives/topology/node_groups.hpp"

namespace margay::collectives {

// As reduce_tree. Requires: count * element_bytes <= kHandshakeBytes. Over several nodes it has a second phase.
// `combine` is not called when there are no bytes.
Steps reduce_nodes(Collective& collective, const NodeGroups& groups, int root, std::byte* partial, std::size_t count,
                   std::size_t element_bytes, Reducer combine);

}  // namespace margay::collectives
