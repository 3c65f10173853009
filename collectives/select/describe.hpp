// The choices of collective algorithms as text, for `margay info --protocols`; rates and what calls cost by them, as
// text and as a picture, for `margay info --collectives`. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collectives/cost/facts.hpp"

namespace margay::collectives {

// For a job of `ranks` ranks on one node, each with a processor of its own or not (`crowded`); then for other facts
// that change the choice. Each line comes from choose() itself, with the usual rates.
[[nodiscard]] std::vector<std::string> describe_choices(unsigned ranks, bool crowded);

// Each rate with what it means.
[[nodiscard]] std::vector<std::string> describe_rates(const Rates& rates);
// For each operation the lengths, the algorithm that is chosen for them, and what it and the next best one cost.
[[nodiscard]] std::vector<std::string> describe_costs(const Facts& facts);
// Where the bucket begins to pay on the Paragon, by the same formulas.
[[nodiscard]] std::string describe_paragon();

// Cost against length as a picture (SVG), a whole document: a panel for each operation, a curve for each algorithm, the
// chosen one thick, and a mark where the choice changes. `title` and `subtitle` say which group, and whose rates.
[[nodiscard]] std::string plot_costs(const Facts& facts, std::string_view title, std::string_view subtitle);

}  // namespace margay::collectives
