// The page's table of collective calls: a row for each rank's part, grouped by call.
#pragma once

#include "sim/cli/view/calls_table.hpp"

namespace margay::sim {

void add_collectives(const PageInput& input, const PageCalls& calls, PageData& data);

}  // namespace margay::sim
