// A number of the machine that this process runs on: equal for all its processes, and different on other machines.
#pragma once

#include <cstdint>

namespace margay::nexus::core {

// A hash of the kernel's boot identity; 0 if it is unknown.
[[nodiscard]] std::uint64_t this_machine();

}  // namespace margay::nexus::core
