// The page's table of match entries: from when until when each stood.
#pragma once

#include "command/trace/page/messages_table.hpp"

namespace margay::command {

void add_entries(const PageInput& input, const PageMessages& messages, PageData& data);

}  // namespace margay::command
