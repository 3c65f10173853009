// What a hybrid costs, dimension by dimension of its plan, all lines of one at once; and which plans it may go by.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/cost/counts.hpp"
#include "collectives/cost/facts.hpp"
#include "collectives/topology/hybrid_plan.hpp"

namespace margay::collectives {

// The plans that a hybrid of this operation may go by: the one that was asked for, or all for which what was asked for
// leaves room. Empty: there is none on these nodes.
[[nodiscard]] std::vector<HybridPlan> hybrid_plans(Operation operation, const Facts& facts, bool in_order);
// Whether there is one for a call of `bytes`.
[[nodiscard]] bool can_hybrid(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order);
// The cheapest of them. Requires: there is one.
[[nodiscard]] HybridPlan cheapest_plan(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order);
// Of one plan, whose dimensions lie inside nodes or between them; one that goes across counts as between.
[[nodiscard]] Cost cost_of_plan(const HybridPlan& plan, Operation operation, std::uint64_t bytes, const Facts& facts);

}  // namespace margay::collectives
