// Which options a descriptor's type has. Internal to portals.
#pragma once

#include "portals/memory/descriptor.hpp"

namespace margay::portals {

// nullptr when `type` has these options, else a sentence: why not, and what to choose. A combined block always saves
// the body; it takes Save::both, the default, for that.
[[nodiscard]] const char* refusal(DescriptorType type, const Options& options);

}  // namespace margay::portals
