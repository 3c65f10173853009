// Mappings of this process that a child of fork() must not share, because the child would write into its parent's file.
#pragma once

#include <cstdint>

#include "portals/base/status.hpp"

namespace margay::sim {

// From now on, replaces these pages by private zeros in every child that this process forks. Children of vfork(), and
// of clone() without fork()'s handlers, still share the pages. Fails if the handlers of fork() cannot be allocated.
[[nodiscard]] portals::Status keep_from_children(void* pages, std::uint64_t bytes);
// Ends the effect of keep_from_children(). Must precede the unmapping of the pages. No effect on other pages.
void forget_own_pages(void* pages);

}  // namespace margay::sim
