// The settings of RMI in the environment, read once at start(). The paper configures a buffer's size "for each machine
// during installation" (6.3); here a run chooses. docs/rmi.md has the table for users. All nodes need the same tree and
// the same rule, because a fence is one of all nodes.
//
// The ranges are checked once, here, so that the rest of the library relies on them: a buffer has kBufferLeast to
// kBufferMost bytes, a factor is 1 to 2^20, and the queue has kQueueLeast bytes to 2^40.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "libraries/rmi/fence.hpp"
#include "libraries/rmi/library.hpp"
#include "margay/rmi/node.hpp"

namespace margay::rmi::core {

// The values of one node. Constant from start() to stop(). An unset or empty variable has the default given here.
struct Settings {
  // Bytes of an aggregation buffer, a multiple of 8 as requests are. Memory is always of kBufferMost bytes, so that
  // buffers are exchanged freely; a smaller value uses only its beginning.
  std::size_t buffer_bytes = kBufferMost;  // MARGAY_RMI_BUFFER
  // Requests after which a buffer is sent (6.3).
  std::uint32_t factor = 0;  // MARGAY_RMI_FACTOR; 0: kFactor, or kFactorOffNode
  // Bytes of buffers that methods may queue before a call in a method throws.
  std::size_t queue_bytes = kQueueBytes;  // MARGAY_RMI_QUEUE
  // The tree of rmi_fence(). Without a value the node chooses, once it knows whether all nodes are threads of one
  // process.
  std::optional<Tree> tree;  // MARGAY_RMI_FENCE
  // The rule for the end of fences.
  Rule rule = Rule::safe;  // MARGAY_RMI_FENCE_RULE
  // The scheduler of requests (6.2). set_scheduler() has precedence.
  Scheduler scheduler = Scheduler::explicit_polling;  // MARGAY_RMI_SCHEDULER
};

// Throws `error` for a value that is out of range or unknown; the message has the variable, its value and the valid
// ones.
[[nodiscard]] Settings read_settings();

}  // namespace margay::rmi::core
