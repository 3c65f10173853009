#include "collectives/select/perform.hpp"

#include "collectives/portal/shown.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::collectives {

static_assert(kOperationCount < kShownOperations);

Algorithm choose_for_reduction(Operation operation, const Reduction& reduction, const StandingFacts& standing) {
  const bool in_order = !reduction.combine.commutative();
  const auto ranks = static_cast<std::uint64_t>(standing.facts.ranks);
  if (standing.facts.strips && reduction.element_bytes > sim::kStripBytes / ranks) [[unlikely]] {
    // Strips are cut between elements: of longer ones there are none.
    Facts facts = standing.facts;
    facts.strips = false;
    return choose(operation, reduction.bytes(), facts, in_order);
  }
  return standing.choose(operation, reduction.bytes(), in_order);
}

}  // namespace margay::collectives
