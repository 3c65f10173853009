// The page's table of locks of windows: a row for each that a rank held, from when it had it until it was given back.
#pragma once

#include "sim/cli/view/page_input.hpp"

namespace margay::sim {

void add_locks(const PageInput& input, PageData& data);

}  // namespace margay::sim
