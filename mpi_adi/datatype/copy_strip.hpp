// Copies of a strip of runs to or from packed bytes: the inner loops of every noncontiguous message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi_adi/datatype/walker.hpp"

namespace margay::mpi_adi {

// Copies of doubles with stride 2 (one of two columns, one part of complex numbers, the red points of a grid), by
// registers that contain several doubles. Gaps are never written, because another thread may be using them. Other bytes
// in a cache line with a run may be read.

// The only pattern with loops of its own: runs of 8 bytes, one at every 16 bytes.
inline constexpr std::size_t kEveryOtherRunBytes = 8;
inline constexpr std::int64_t kEveryOtherStride = 16;

// Copies some of the `count` runs, from the first on, and returns their number. The caller copies the remainder. 0 on a
// processor without AVX-512, and for runs that are too few or not aligned.
[[nodiscard]] std::uint64_t pack_every_other(std::byte* packed, const std::byte* spread, std::uint64_t count);
[[nodiscard]] std::uint64_t unpack_every_other(std::byte* spread, const std::byte* packed, std::uint64_t count);

// Copies the first `count` runs of a strip, with `by` added to their addresses. A strip with entries is copied whole.
// The strip may be one that was stored earlier. This avoids a store-forwarding stall: a strip that was just made is
// read in other pieces than it was written. Returns the end of the packed side.
std::byte* pack_strip(std::byte* packed, const Strip& strip, std::uintptr_t by, std::uint64_t count);
const std::byte* unpack_strip(const std::byte* packed, const Strip& strip, std::uintptr_t by, std::uint64_t count);

// The same for a whole strip, with its own addresses.
inline std::byte* pack_strip(std::byte* packed, const Strip& strip) {
  return pack_strip(packed, strip, 0, strip.count);
}
inline const std::byte* unpack_strip(const std::byte* packed, const Strip& strip) {
  return unpack_strip(packed, strip, 0, strip.count);
}

}  // namespace margay::mpi_adi
