// The algorithms of collective operations, one body each: barrier_tree.cpp and so on, which begin with how they go and
// what they cost.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/op/reducer.hpp"
#include "collectives/portal/collective.hpp"
#include "collectives/topology/node_groups.hpp"
#include "collectives/topology/spanning_tree.hpp"

namespace margay::collectives {

Steps barrier_tree(Collective& collective);
Steps barrier_exchange(Collective& collective);

// `data`: the root's is sent, the others' is filled; the same number of bytes everywhere.
Steps bcast_tree(Collective& collective, int root, portals::Region data);
// The same along a tree that is given, of some of the ranks.
Steps bcast_along(Collective& collective, TreePlace place, portals::Region data);
// As bcast_tree.
Steps bcast_nodes(Collective& collective, const NodeGroups& groups, int root, portals::Region data);

// `partial`: this rank's contribution, `count` elements of `element_bytes`; at the root it becomes the result,
// elsewhere it is used up.
Steps reduce_tree(Collective& collective, int root, std::byte* partial, std::size_t count, std::size_t element_bytes,
                  Reducer combine);
// The same along a tree that is given, of some of the ranks, for commutative operations; `bytes` in all. `combine` is
// not called when there are none.
Steps reduce_along(Collective& collective, TreePlace place, std::byte* partial, std::size_t count, std::uint64_t bytes,
                   Reducer combine);
// As reduce_tree. Requires: count * element_bytes <= kHandshakeBytes. Over several nodes it has a second phase.
// `combine` is not called when there are no bytes.
Steps reduce_nodes(Collective& collective, const NodeGroups& groups, int root, std::byte* partial, std::size_t count,
                   std::size_t element_bytes, Reducer combine);

// `partial`: this rank's contribution, `count` elements of `element_bytes`; becomes the result.
Steps allreduce_exchange(Collective& collective, std::byte* partial, std::size_t count, std::size_t element_bytes,
                         Reducer combine);

// `mine`: block_bytes bytes. `all` (root only): size() * block_bytes bytes, filled in rank order.
Steps gather_tree(Collective& collective, int root, portals::Region mine, std::uint64_t block_bytes, std::byte* all);

}  // namespace margay::collectives
