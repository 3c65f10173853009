// Cost against length as a picture (SVG): a panel for each operation, a curve for each algorithm, the chosen one thick,
// and a mark where the choice changes. Pure.
#pragma once

#include <string>
#include <string_view>

#include "collectives/cost/facts.hpp"

namespace margay::collectives {

// A whole document. `title` and `subtitle` say which group, and whose rates.
[[nodiscard]] std::string plot_costs(const Facts& facts, std::string_view title, std::string_view subtitle);

}  // namespace margay::collectives
