// The page's table of one-sided accesses: one row each, ordered by the origin's beginning.
#pragma once

#include "command/trace/page/calls_table.hpp"

namespace margay::command {

// Adds the table to `data`. `calls` gives each access the row of its call. A row ends with the return of the call that
// made the access, which may be before the access is complete; not known for a rank with several threads. Cost: one
// pass over the trace.
void add_accesses(const PageInput& input, const PageCalls& calls, PageData& data);

}  // namespace margay::command
