// What the user asks for: algorithms by name (--collective), rates (--rates).
#pragma once

#include <string>
#include <string_view>

#include "collectives/cost/facts.hpp"
#include "collectives/cost/rates.hpp"
#include "portals/base/status.hpp"

namespace margay::collectives {

// "bcast=bucket,allreduce=hybrid:2x4". An unknown operation, or one that does not go by the algorithm, is an error that
// names it.
[[nodiscard]] portals::Status parse_asked_for(std::string_view text, AskedFor& out);
// "tree|direct|bucket", of an operation; empty where there is nothing to choose.
[[nodiscard]] std::string algorithms_of(Operation operation);

// The rates that a job chooses by (Job::rates), out of their text: the user's word, or what calibration has kept.
// "usual" or nothing, "paragon", or a text of rates. `out` is as it was where there is an error.
[[nodiscard]] portals::Status parse_asked_rates(std::string_view text, Rates& out);
// The same where an error can no longer be reported: a wrong entry counts as none. So all ranks of a job that got the
// same text choose by the same rates.
[[nodiscard]] Rates rates_of_job(std::string_view text);

}  // namespace margay::collectives
