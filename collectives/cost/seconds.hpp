// The time that counted costs take on a machine.
#pragma once

#include "collectives/cost/counts.hpp"
#include "collectives/cost/facts.hpp"
#include "collectives/cost/rates.hpp"

namespace margay::collectives {

// Where each rank has a processor: the path. Where not: what all ranks have to do, by the processors, and the turns.
[[nodiscard]] double seconds(const Cost& cost, const Facts& facts, const Rates& rates);

}  // namespace margay::collectives
