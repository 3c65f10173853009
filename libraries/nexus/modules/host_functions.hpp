// The table of services that a foreign module gets: the C functions of margay_nexus_host, on Services. They check what
// the module gives them, as CheckedModule checks what it returns.
#pragma once

#include "libraries/nexus/modules/checked_module.hpp"

namespace margay::nexus::core {

// The table for `module`, which outlives it.
[[nodiscard]] margay_nexus_host make_host(Services& services, CheckedModule& module);

}  // namespace margay::nexus::core
