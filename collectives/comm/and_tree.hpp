// The bitwise and of words over all members, along the spanning tree: what agreements are made of. Unlike a reduction
// and a broadcast it tells everybody that somebody is lost. Cost: 2 ceil(log2 p) (α + n β).
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/portal/collective.hpp"

namespace margay::collectives {

// `words`: this member's, then the result, the same on all. `error_class`: MPI_SUCCESS everywhere, or a member is lost
// (MPIX_ERR_PROC_FAILED) or made another call (MPI_ERR_TRUNCATE), wherever that is known; then `words` say nothing. May
// follow another one in the same call, in the same phase.
Steps and_tree(Collective& collective, std::vector<std::uint64_t>& words, int& error_class);

}  // namespace margay::collectives
