// Which options a descriptor's type has. Internal to portals.
#pragma once

#include "portals/memory/descriptor.hpp"

namespace margay::portals {

// What a combined block's Save may be: `body`, which is all that it saves, or the default, which means the same there.
// nullptr when `type` has these options, else why not and what to do.
[[nodiscard]] const char* refusal(DescriptorType type, const Options& options);

}  // namespace margay::portals
