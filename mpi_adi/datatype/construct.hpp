// Datatypes out of datatypes (MPI 4.0, 5.1.2). Pure: no handles, and arguments were checked by the bindings.
#pragma once

#include <cstdint>
#include <span>

#include "mpi_adi/datatype/definition.hpp"

namespace margay::mpi_adi {

// A definition, or nullptr: its size would pass 2^62 bytes, or a bound would not fit in 63 bits. `origin` says which
// call it was; the types in it are those given here.

// `count` blocks of `block_length` elements of `old`, the beginnings `stride_bytes` apart. Requires: counts >= 0.
[[nodiscard]] TypePtr make_hvector(std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes,
                                   const TypePtr& old, TypeOrigin origin);
// Block i: `lengths[i]` elements at displacements[i] * `unit` bytes. Requires: equal lengths of the spans; no length
// below 0.
[[nodiscard]] TypePtr make_indexed(std::span<const int> lengths, std::span<const MPI_Aint> displacements,
                                   std::int64_t unit, const TypePtr& old, TypeOrigin origin);
// The same with ints for displacements.
[[nodiscard]] TypePtr make_indexed(std::span<const int> lengths, std::span<const int> displacements, std::int64_t unit,
                                   const TypePtr& old, TypeOrigin origin);
// The same with large counts.
[[nodiscard]] TypePtr make_indexed(std::span<const MPI_Count> lengths, std::span<const MPI_Count> displacements,
                                   std::int64_t unit, const TypePtr& old, TypeOrigin origin);
// Block i: `lengths[i]` elements of types[i]. The extent is padded to the strictest alignment unless a bound was set.
[[nodiscard]] TypePtr make_struct(std::span<const int> lengths, std::span<const MPI_Aint> displacements,
                                  std::span<const TypePtr> types, TypeOrigin origin);
[[nodiscard]] TypePtr make_struct(std::span<const MPI_Count> lengths, std::span<const MPI_Count> displacements,
                                  std::span<const TypePtr> types, TypeOrigin origin);
[[nodiscard]] TypePtr make_resized(const TypePtr& old, std::int64_t lower, std::int64_t extent, TypeOrigin origin);
// All but the origin and the predefined handle. The copy's own until it is handed on.
[[nodiscard]] std::shared_ptr<TypeDefinition> copy_definition(const TypeDefinition& old);
[[nodiscard]] TypePtr make_dup(const TypePtr& old, TypeOrigin origin);

}  // namespace margay::mpi_adi
