// The page's table of one-sided accesses: one row for each access, in the order in which origins began them.
#pragma once

#include "command/trace/page/calls_table.hpp"

namespace margay::command {

// Adds the table to `data`. `calls` gives each access the row of its call. The end of a row is the return of the call
// that made the access; the access itself may complete later. The end is not known for a rank with several threads.
// Cost: one pass over the trace.
void add_accesses(const PageInput& input, const PageCalls& calls, PageData& data);

}  // namespace margay::command
