// The settings of RMI in the environment. The paper configures a buffer's size "per machine at installation" (6.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "libraries/rmi/fence.hpp"
#include "libraries/rmi/library.hpp"
#include "margay/rmi/node.hpp"

namespace margay::rmi::core {

struct Settings {
  std::size_t buffer_bytes = kBufferMost;  // MARGAY_RMI_BUFFER
  std::uint32_t factor = 0;                // MARGAY_RMI_FACTOR; 0: kFactor, or kFactorOffNode
  std::size_t queue_bytes = kQueueBytes;   // MARGAY_RMI_QUEUE
  std::optional<Tree> tree;                // MARGAY_RMI_FENCE
  Rule rule = Rule::safe;                  // MARGAY_RMI_FENCE_RULE
  // MARGAY_RMI_SCHEDULER; set_scheduler() has precedence.
  Scheduler scheduler = Scheduler::explicit_polling;
};

// Throws `error` for a value that is out of range.
[[nodiscard]] Settings read_settings();

}  // namespace margay::rmi::core
