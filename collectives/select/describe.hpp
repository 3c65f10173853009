// Descriptions of the choices of algorithms, as text, for `margay info --protocols`; and of rates and costs, as text
// and as a picture, for `margay info --collectives`. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collectives/cost/facts.hpp"

namespace margay::collectives {

// The choices for a job of `ranks` ranks on one node, then for other numbers of ranks and nodes. `crowded`: the job's
// ranks outnumber processors. Each line comes from choose() itself, with usual_rates().
[[nodiscard]] std::vector<std::string> describe_choices(unsigned ranks, bool crowded);

// Each rate with its meaning.
[[nodiscard]] std::vector<std::string> describe_rates(const Rates& rates);
// For each operation: ranges of lengths, the algorithm chosen for each, its cost, and that of the next best one.
[[nodiscard]] std::vector<std::string> describe_costs(const Facts& facts);
// The lengths from which the bucket is best on the Paragon, by the same formulas.
[[nodiscard]] std::string describe_paragon();

// Cost against length as a picture (SVG), a whole document. It has a panel for each operation and a curve for each
// algorithm; the chosen one is thick, and a mark shows where the choice changes. `title` and `subtitle` name the group
// and the origin of the rates.
[[nodiscard]] std::string plot_costs(const Facts& facts, std::string_view title, std::string_view subtitle);

}  // namespace margay::collectives
