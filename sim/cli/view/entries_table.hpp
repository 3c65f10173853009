// The page's table of match entries: from when until when each stood.
#pragma once

#include "sim/cli/view/messages_table.hpp"

namespace margay::sim {

void add_entries(const PageInput& input, const PageMessages& messages, PageData& data);

}  // namespace margay::sim
