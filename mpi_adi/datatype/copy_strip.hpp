// Copies of a strip of runs to or from packed bytes: the inner loops of every noncontiguous message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi_adi/datatype/walker.hpp"

namespace margay::mpi_adi {

// Doubles with stride 2 (a column of two, one part of complex numbers, the red points of a grid), by registers that
// hold several. No gap is written: another thread may be at it. What else is in a cache line with a run may be read.

inline constexpr std::size_t kEveryOtherRunBytes = 8;
inline constexpr std::int64_t kEveryOtherStride = 16;

// Copies some of the `count` runs, from the first on, and returns how many: what does not fill registers is left, and
// all of it on a processor without AVX-512.
[[nodiscard]] std::uint64_t pack_every_other(std::byte* packed, const std::byte* spread, std::uint64_t count);
[[nodiscard]] std::uint64_t unpack_every_other(std::byte* spread, const std::byte* packed, std::uint64_t count);

// `count` of a strip's first runs, moved by `by`: of the strip as it is remembered, since one that was just copied is
// read in other pieces than it was written in, which a processor waits for. All of them if it has entries. Returns the
// packed side's end, as the others.
std::byte* pack_strip(std::byte* packed, const Strip& strip, std::uintptr_t by, std::uint64_t count);
const std::byte* unpack_strip(const std::byte* packed, const Strip& strip, std::uintptr_t by, std::uint64_t count);

inline std::byte* pack_strip(std::byte* packed, const Strip& strip) {
  return pack_strip(packed, strip, 0, strip.count);
}
inline const std::byte* unpack_strip(const std::byte* packed, const Strip& strip) {
  return unpack_strip(packed, strip, 0, strip.count);
}

}  // namespace margay::mpi_adi
