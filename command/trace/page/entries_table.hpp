// The page's table of match entries, with the time from which and until which each was in its list.
#pragma once

#include "command/trace/page/messages_table.hpp"

namespace margay::command {

// Adds this table and those of heaps, whose rows refer to entries.
void add_entries(const PageInput& input, const PageMessages& messages, PageData& data);

}  // namespace margay::command
