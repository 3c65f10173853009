// The page's table of match entries, each with the times at which it entered its list and left it.
#pragma once

#include "command/trace/page/messages_table.hpp"

namespace margay::command {

// Adds this table and those of heaps (heap_table.hpp), which are made from the entries that took messages. An MPI
// program has rows for the library's named entries and for posted receives, a program on portals for each entry that
// was linked or that a walk met. Cost: several passes over the trace.
void add_entries(const PageInput& input, const PageMessages& messages, PageData& data);

}  // namespace margay::command
