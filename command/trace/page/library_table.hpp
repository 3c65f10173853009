// The page's table of the events of communication libraries: one row for each event, in the order of the trace.
#pragma once

#include "command/trace/page/calls_table.hpp"

namespace margay::command {

// Adds the table `library_events` to `data`. `calls` gives each event the row of its call. Cost: one pass over the
// trace, and a sentence for each event.
void add_library_events(const PageInput& input, const PageCalls& calls, PageData& data);

}  // namespace margay::command
