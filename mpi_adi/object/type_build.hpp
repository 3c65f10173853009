// Building a datatype out of another: pure arithmetic on blocks.
#pragma once

#include <cstdint>

#include "mpi_adi/object/datatype.hpp"

namespace margay::mpi_adi {

// A type's layout is a table of its blocks; one with more than this is refused (MPI_ERR_COUNT at the interface).
inline constexpr std::uint64_t kTypeBlocksMax = 1ULL << 24;
// Whether `count` blocks of `block_length` elements of `old` can be built: few enough blocks, and a size below 2^62
// bytes.
[[nodiscard]] bool can_build(std::int64_t count, std::int64_t block_length, const Datatype& old);

// The results have no handle yet and are not committed. Requires: counts >= 0, can_build().
[[nodiscard]] Datatype type_contiguous(std::int64_t count, const Datatype& old);
// `count` blocks of `block_length` elements, the beginnings `stride_bytes` apart (which may be negative).
[[nodiscard]] Datatype type_hvector(std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes,
                                    const Datatype& old);

}  // namespace margay::mpi_adi
