// A message in the heap of a dynamic block, and counts of such messages.
#pragma once

#include <cstdint>

#include "portals/base/header.hpp"
#include "portals/base/region.hpp"

namespace margay::portals {

// A message that a dynamic block has taken. It lies in the block's heap, and is valid until DynamicBlock::release(). It
// is queued in arrival order from the moment its header is matched, before its body is complete.
struct ArrivedMessage {
  Header header;
  Saved saved = Saved::nothing;
  // The whole body is here. Always true when only the header is saved.
  bool complete = false;
  // Number in order of arrival, from 1, for each block.
  std::uint64_t arrival = 0;
  // Empty when only the header is saved.
  Buffer body;
  // A mark for the program: the receive that waits for this message's body. portals does not interpret it.
  void* claim = nullptr;
};

// The messages and bytes in dynamic blocks. A separate structure, so that it can lie where other threads may read it.
struct ArrivalCounts {
  // Messages on the queues.
  std::uint64_t messages = 0;
  // Allocated bytes of the heaps, bookkeeping included.
  std::uint64_t bytes = 0;
};

}  // namespace margay::portals
