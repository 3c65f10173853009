// The page's table of match entries, with the time from which and until which each was in its list.
#pragma once

#include "command/trace/page/messages_table.hpp"

namespace margay::command {

// Adds this table and those of heaps, whose rows refer to entries. An MPI program has rows for the library's named
// entries and for posted receives, a program on portals for each entry that was linked or that a walk met. Cost:
// several passes over the trace.
void add_entries(const PageInput& input, const PageMessages& messages, PageData& data);

}  // namespace margay::command
