// Reduction along the minimum spanning tree: each rank combines its children's parts with its own and sends the
// result up. Cost: ceil(log2 p) (α + n β + n γ).
//
// An operation that does not commute is combined in the order of ranks: a child's subtree is the range of ranks
// directly below or above those combined before it.
#pragma once

#include <cstddef>

#include "collectives/op/reducer.hpp"
#include "collectives/portal/collective.hpp"
#include "collectives/topology/spanning_tree.hpp"

namespace margay::collectives {

// `partial`: this rank's contribution, `count` elements of `element_bytes`; at the root it becomes the result,
// elsewhere it is used up.
Steps reduce_tree(Collective& collective, int root, std::byte* partial, std::size_t count, std::size_t element_bytes,
                  Reducer combine);
// The same along a tree that is given, of some of the ranks, for commutative operations; `bytes` in all. `combine` is
// not called when there are none.
Steps reduce_along(Collective& collective, TreePlace place, std::byte* partial, std::size_t count, std::uint64_t bytes,
                   Reducer combine);

}  // namespace margay::collectives
