// Building a datatype out of another: pure arithmetic on blocks.
#pragma once

#include <cstdint>

#include "mpi_adi/object/datatype.hpp"

namespace margay::mpi_adi {

// The results have no handle yet and are not committed. Requires: counts >= 0.
[[nodiscard]] Datatype type_contiguous(std::int64_t count, const Datatype& old);
// `count` blocks of `block_length` elements, the beginnings `stride_bytes` apart (which may be negative).
[[nodiscard]] Datatype type_hvector(std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes,
                                    const Datatype& old);

}  // namespace margay::mpi_adi
