// What an algorithm costs: the formula at the top of its file, as a function. Pure. Counted in messages, bytes and
// combined bytes, so that a trace can be held against it; times come from a machine's rates.
#pragma once

#include <cstdint>

#include "collectives/select/choice.hpp"
#include "collectives/select/counts.hpp"
#include "collectives/select/rates.hpp"

namespace margay::collectives {

// `bytes`, `in_order` as choose() has them. Requires: the algorithm can do the call. Of a hybrid the cheapest plan.
[[nodiscard]] Cost cost_of(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts,
                           bool in_order = false);
// Of one plan, whose dimensions lie inside nodes or between them; one that goes across counts as between.
[[nodiscard]] Cost cost_of_plan(const HybridPlan& plan, Operation operation, std::uint64_t bytes, const Facts& facts);
// Of all that may be (hybrid_plans). Requires: there is one.
[[nodiscard]] HybridPlan cheapest_plan(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order);
// Where each rank has a processor: the path. Where not: what all ranks have to do, by the processors, and the turns.
[[nodiscard]] double seconds(const Cost& cost, const Facts& facts, const Rates& rates);

}  // namespace margay::collectives
