// Allreduce by recursive doubling: in round k partners 2^k apart exchange what they have and both combine it. Of p
// ranks that are not a power of two, the first give their part to a neighbour before and get the result after. Cost:
// log2 p (α + n β + n γ), and 2 (α + n β) + n γ more when p is no power of two. For short data, and ranks that have a
// processor each.
//
// Every rank ends with the same bits: partners hold neighbouring ranges of ranks, and both compute lower op upper, with
// the operands in that order, on the same bits. So the order of ranks is kept, and the operation need not be
// commutative.
#pragma once

#include <cstddef>

#include "collectives/op/reducer.hpp"
#include "collectives/portal/collective.hpp"

namespace margay::collectives {

// `partial`: this rank's contribution, `count` elements of `element_bytes`; becomes the result.
Steps allreduce_exchange(Collective& collective, std::byte* partial, std::size_t count, std::size_t element_bytes,
                         Reducer combine);

}  // namespace margay::collectives
