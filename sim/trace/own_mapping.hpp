// Memory of this process that a child of fork() must not share: it would write into its parent's file.
#pragma once

#include <cstdint>

#include "portals/base/status.hpp"

namespace margay::sim {

// From now on a child that this process forks finds zeros of its own at these pages, and the file is not mapped in it.
// vfork() and clone() without fork()'s handlers are not seen. Error: no memory for that.
[[nodiscard]] portals::Status keep_from_children(void* pages, std::uint64_t bytes);
// Requires: before they are unmapped. No effect on others.
void forget_own_pages(void* pages);

}  // namespace margay::sim
