// Copies of a strip of runs to or from packed bytes: the inner loops of each noncontiguous message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi_adi/datatype/walker.hpp"

namespace margay::mpi_adi {

// Copies of doubles with stride 2 (a column of two, one part of complex numbers, the red points of a grid), by
// registers that hold several. Gaps are never written, because another thread may be using them. Other bytes in a cache
// line with a run may be read.

// The one pattern that has its own loops: runs of 8 bytes, one at every 16 bytes.
inline constexpr std::size_t kEveryOtherRunBytes = 8;
inline constexpr std::int64_t kEveryOtherStride = 16;

// Copies some of the `count` runs, from the first on, and returns their number. The caller copies the remainder, which
// does not fill registers; on a processor without AVX-512 that is all.
[[nodiscard]] std::uint64_t pack_every_other(std::byte* packed, const std::byte* spread, std::uint64_t count);
[[nodiscard]] std::uint64_t unpack_every_other(std::byte* spread, const std::byte* packed, std::uint64_t count);

// Copies the first `count` runs of a strip, whose addresses are moved by `by`. A strip with entries is copied whole.
// The strip may be a stored one, which avoids a stall: a strip that was just made would be read in other pieces than it
// was written in. Returns the end of the packed side.
std::byte* pack_strip(std::byte* packed, const Strip& strip, std::uintptr_t by, std::uint64_t count);
const std::byte* unpack_strip(const std::byte* packed, const Strip& strip, std::uintptr_t by, std::uint64_t count);

// The same for a whole strip in place.
inline std::byte* pack_strip(std::byte* packed, const Strip& strip) {
  return pack_strip(packed, strip, 0, strip.count);
}
inline const std::byte* unpack_strip(const std::byte* packed, const Strip& strip) {
  return unpack_strip(packed, strip, 0, strip.count);
}

}  // namespace margay::mpi_adi
