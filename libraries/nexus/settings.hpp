// The settings of one context from the environment: MARGAY_NEXUS_QUEUE and MARGAY_NEXUS_THREADS (docs/nexus.md).
// libraries/nexus/modules reads those of modules.
#pragma once

#include <cstddef>
#include <cstdint>

namespace margay::nexus::core {

struct Settings {
  std::size_t queue_bytes = 0;
  std::uint32_t threads = 0;
};

// Throws `error` for an invalid value, naming the variable and the valid ones. `threads`: the program's choice.
[[nodiscard]] Settings read_settings(std::uint32_t threads);

}  // namespace margay::nexus::core
