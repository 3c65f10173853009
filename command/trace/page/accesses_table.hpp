// The page's table of one-sided accesses: one row each, ordered by the origin's beginning.
#pragma once

#include "command/trace/page/calls_table.hpp"

namespace margay::command {

// Adds the table to `data`. `calls` gives each access the row of its call.
void add_accesses(const PageInput& input, const PageCalls& calls, PageData& data);

}  // namespace margay::command
