// What lies in dynamic blocks, counted where others may look on.
#pragma once

#include <cstdint>

namespace margay::portals {

struct ArrivalCounts {
  std::uint64_t messages = 0;  // on the queue
  std::uint64_t bytes = 0;     // of the heap that is taken, bookkeeping included
};

}  // namespace margay::portals
