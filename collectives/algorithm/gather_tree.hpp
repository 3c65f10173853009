// Gather along the minimum spanning tree: a subtree is a range of ranks, so each inner rank's part is one contiguous
// run. Cost: ceil(log2 p) α + (p - 1)/p n β, n the whole result.
#pragma once

#include <cstddef>

#include "collectives/portal/collective.hpp"

namespace margay::collectives {

// `mine`: block_bytes bytes. `all` (root only): size() * block_bytes bytes, filled in rank order.
Steps gather_tree(Collective& collective, int root, portals::Region mine, std::uint64_t block_bytes, std::byte* all);

}  // namespace margay::collectives
