// Doubles with stride 2 (a column of two, one part of complex numbers, the red points of a grid), by registers that
// hold several. No gap is written: another thread may be at it. What else is in a cache line with a run may be read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace margay::mpi_adi {

inline constexpr std::size_t kEveryOtherRunBytes = 8;
inline constexpr std::int64_t kEveryOtherStride = 16;

// Copies some of the `count` runs, from the first on, and returns how many: what does not fill registers is left, and
// all of it on a processor without AVX-512.
[[nodiscard]] std::uint64_t pack_every_other(std::byte* packed, const std::byte* spread, std::uint64_t count);
[[nodiscard]] std::uint64_t unpack_every_other(std::byte* spread, const std::byte* packed, std::uint64_t count);

}  // namespace margay::mpi_adi
