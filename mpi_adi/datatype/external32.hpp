// The representation "external32" (MPI 4.0, 14.5.2): packed big-endian elements. Each has the size in the standard's
// table, for example 4 bytes for MPI_LONG, 2 for MPI_WCHAR, and 16 in the IEEE format for MPI_LONG_DOUBLE. A value that
// does not fit in the smaller integer loses its upper bytes. The padding of an unpacked long double is zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi_adi/datatype/definition.hpp"

namespace margay::mpi_adi {

// The size in bytes of one predefined element, by its handle; 0 if the handle has size 0 (MPI_LB, MPI_UB).
[[nodiscard]] std::uint64_t external32_basic_size(int handle);

// Convert `count` elements at `buffer` to or from `external`, which has count * type.external_size bytes. They copy
// through a small buffer on the stack.
void pack_external32(const TypeDefinition& type, const void* buffer, std::uint64_t count, std::byte* external);
void unpack_external32(const TypeDefinition& type, void* buffer, std::uint64_t count, const std::byte* external);

}  // namespace margay::mpi_adi
