// A message in the heap of a dynamic block, and the counts of such messages.
#pragma once

#include <cstdint>

#include "portals/base/header.hpp"
#include "portals/base/region.hpp"

namespace margay::portals {

// In the heap's own memory. Queued in arrival order from the moment its header was matched.
struct ArrivedMessage {
  Header header;
  Saved saved = Saved::nothing;
  bool complete = false;      // the body is all here (always true when only the header was saved)
  std::uint64_t arrival = 0;  // 1, 2, 3 ... per block
  Buffer body;                // empty when only the header was saved
  void* claim = nullptr;      // the searcher's own mark on a message whose body is still on its way
};

// The messages and bytes in dynamic blocks, counted where other threads may read them.
struct ArrivalCounts {
  std::uint64_t messages = 0;  // on the queue
  std::uint64_t bytes = 0;     // of the heap that is taken, bookkeeping included
};

}  // namespace margay::portals
