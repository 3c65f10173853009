// Barrier: in along the spanning tree, out along it. Cost: 2 ceil(log2 p) α.
#pragma once

#include "collectives/portal/collective.hpp"

namespace margay::collectives {

Steps barrier_tree(Collective& collective);

}  // namespace margay::collectives
