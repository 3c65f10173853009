// The page's table of one-sided accesses: a row for each, by the time at which its origin began it.
#pragma once

#include "sim/cli/view/calls_table.hpp"

namespace margay::sim {

void add_accesses(const PageInput& input, const PageCalls& calls, PageData& data);

}  // namespace margay::sim
