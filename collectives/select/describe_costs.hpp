// Rates and what follows from them as text, for `margay info --collectives`.
#pragma once

#include <string>
#include <vector>

#include "collectives/cost/facts.hpp"

namespace margay::collectives {

// Each rate with what it means.
[[nodiscard]] std::vector<std::string> describe_rates(const Rates& rates);
// For each operation the lengths, the algorithm that is chosen for them, and what it and the next best one cost.
[[nodiscard]] std::vector<std::string> describe_costs(const Facts& facts);
// Where the bucket begins to pay on the Paragon, by the same formulas.
[[nodiscard]] std::string describe_paragon();

}  // namespace margay::collectives
