// The rates that a job chooses by (Job::rates), out of their text: the user's word, or what calibration has kept.
#pragma once

#include <string_view>

#include "collectives/cost/rates.hpp"

namespace margay::collectives {

// "usual" or nothing, "paragon", or a text of rates. `out` is as it was where there is an error.
[[nodiscard]] portals::Status parse_asked_rates(std::string_view text, Rates& out);
// The same where nobody can be told any more: what is wrong counts as nothing. So all ranks of a job that got the same
// text choose by the same rates.
[[nodiscard]] Rates rates_of_job(std::string_view text);

}  // namespace margay::collectives
