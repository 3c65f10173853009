// Barrier by dissemination: in round k each rank tells the one 2^k above it, and hears from the one 2^k below; after
// the last round each has heard of all. Cost: ceil(log2 p) α, half of in and out along a tree, and p messages in each
// round: for ranks that have a processor each.
#pragma once

#include "collectives/portal/collective.hpp"

namespace margay::collectives {

Steps barrier_exchange(Collective& collective);

}  // namespace margay::collectives
