// How large the memory that the ranks of a node share may be, in bytes.
#pragma once

#include <cstdint>

namespace margay::sim {

struct SegmentSizes {
  std::uint64_t sparse = 0;     // where a page costs memory only once it is touched
  std::uint64_t allocated = 0;  // where all of it costs memory at once, and there is enough of that
  std::uint64_t least = 0;      // where there is not
};

}  // namespace margay::sim
