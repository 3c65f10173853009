// The page's table of locks of windows: one row for each lock that a rank held, from its grant to its release.
#pragma once

#include "command/trace/page/page_input.hpp"

namespace margay::command {

// Adds the table to `data`. A lock without a recorded release has no end. Cost: one pass over the trace.
void add_locks(const PageInput& input, PageData& data);

}  // namespace margay::command
