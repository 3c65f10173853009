// Algorithms asked for by name: --collective.
#pragma once

#include <string>
#include <string_view>

#include "collectives/cost/facts.hpp"
#include "portals/base/status.hpp"

namespace margay::collectives {

// "bcast=bucket,allreduce=hybrid:2x4". An unknown operation, or one that does not go by the algorithm, is an error that
// names it.
[[nodiscard]] portals::Status parse_asked_for(std::string_view text, AskedFor& out);
// "tree|direct|bucket", of an operation; empty where there is nothing to choose.
[[nodiscard]] std::string algorithms_of(Operation operation);

}  // namespace margay::collectives
