// Mappings of this process that a child of fork() must not share, because it would write into its parent's file.
#pragma once

#include <cstdint>

#include "portals/base/status.hpp"

namespace margay::sim {

// Replaces these pages, in every child that this process forks from now on, by zeros of its own. vfork(), and clone()
// without fork()'s handlers, are not handled. Fails when memory is lacking for the list's handlers.
[[nodiscard]] portals::Status keep_from_children(void* pages, std::uint64_t bytes);
// Ends that. Required before the pages are unmapped; no effect on other pages.
void forget_own_pages(void* pages);

}  // namespace margay::sim
