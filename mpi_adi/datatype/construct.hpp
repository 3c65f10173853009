// Constructors of derived datatypes (MPI 4.0, 5.1.2 to 5.1.4). Pure: no handles, and arguments were checked by the
// bindings.
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

// Parts of arrays as datatypes (MPI 4.0, 5.1.3 and 5.1.4). Arguments were checked by the bindings; like construct.hpp,
// nullptr when something does not fit in 63 bits.

// A box of `subsizes` elements at `starts` in an array of `sizes`. `order`: MPI_ORDER_C or MPI_ORDER_FORTRAN.
[[nodiscard]] TypePtr make_subarray(std::span<const int> sizes, std::span<const int> subsizes,
                                    std::span<const int> starts, int order, const TypePtr& old, TypeOrigin origin);
[[nodiscard]] TypePtr make_subarray(std::span<const MPI_Count> sizes, std::span<const MPI_Count> subsizes,
                                    std::span<const MPI_Count> starts, int order, const TypePtr& old,
                                    TypeOrigin origin);

// One dimension of a distributed array, and this process's place in it.
struct Distribution {
  std::int64_t array = 1;      // elements of the whole dimension
  std::int64_t block = 1;      // elements dealt at a time
  std::int64_t processes = 1;  // that they are dealt to in turn
  std::int64_t place = 0;      // of this process among them
};
// What this process has of the array; dimensions in the order of `order`.
[[nodiscard]] TypePtr make_darray(std::span<const Distribution> dimensions, int order, const TypePtr& old,
                                  TypeOrigin origin);

}  // namespace margay::mpi_adi
