// The page's table of one-sided accesses: a row for each, by the time at which its origin began it.
#pragma once

#include "command/trace/page/calls_table.hpp"

namespace margay::command {

void add_accesses(const PageInput& input, const PageCalls& calls, PageData& data);

}  // namespace margay::command
