// The page's table of collective calls: a row for each rank's part, grouped by call.
#pragma once

#include "sim/cli/view/page_input.hpp"

namespace margay::sim {

void add_collectives(const PageInput& input, PageData& data);

}  // namespace margay::sim
