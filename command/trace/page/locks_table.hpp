// The page's table of locks of windows: a row for each that a rank held, from when it had it until it was given back.
#pragma once

#include "command/trace/page/page_input.hpp"

namespace margay::command {

void add_locks(const PageInput& input, PageData& data);

}  // namespace margay::command
