// Constructors of derived datatypes (MPI 4.0, 5.1.2 to 5.1.4). Pure: they use no handles, and the bindings have checked
// the arguments.
#pragma once

#include <cstdint>
#include <span>

#include "mpi_adi/datatype/definition.hpp"

namespace margay::mpi_adi {

// Each constructor returns a definition, or nullptr if the size would exceed 2^62 bytes or a bound would not fit in 63
// bits. `origin` describes the call, for MPI_Type_get_contents; its types are the constructor's arguments.

// `count` blocks of `block_length` elements of `old` each; the blocks begin `stride_bytes` apart. Requires: no
// negative count.
[[nodiscard]] TypePtr make_hvector(std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes,
                                   const TypePtr& old, TypeOrigin origin);
// Block i has `lengths[i]` elements at displacements[i] * `unit` bytes. Requires: spans of equal length; no negative
// block length.
[[nodiscard]] TypePtr make_indexed(std::span<const int> lengths, std::span<const MPI_Aint> displacements,
                                   std::int64_t unit, const TypePtr& old, TypeOrigin origin);
// The same with int displacements.
[[nodiscard]] TypePtr make_indexed(std::span<const int> lengths, std::span<const int> displacements, std::int64_t unit,
                                   const TypePtr& old, TypeOrigin origin);
// The same with large counts.
[[nodiscard]] TypePtr make_indexed(std::span<const MPI_Count> lengths, std::span<const MPI_Count> displacements,
                                   std::int64_t unit, const TypePtr& old, TypeOrigin origin);
// Block i has `lengths[i]` elements of types[i], at displacements[i] bytes. The extent is padded to a multiple of the
// strictest alignment unless an upper bound was set.
[[nodiscard]] TypePtr make_struct(std::span<const int> lengths, std::span<const MPI_Aint> displacements,
                                  std::span<const TypePtr> types, TypeOrigin origin);
// The same with large counts.
[[nodiscard]] TypePtr make_struct(std::span<const MPI_Count> lengths, std::span<const MPI_Count> displacements,
                                  std::span<const TypePtr> types, TypeOrigin origin);
// `old` with the bounds [lower, lower + extent), which types made of it inherit.
[[nodiscard]] TypePtr make_resized(const TypePtr& old, std::int64_t lower, std::int64_t extent, TypeOrigin origin);
// Copies a definition without its origin and its predefined handle. The caller may change the copy until it is shared.
[[nodiscard]] std::shared_ptr<TypeDefinition> copy_definition(const TypeDefinition& old);
// A copy with its own origin; layout and signature are shared.
[[nodiscard]] TypePtr make_dup(const TypePtr& old, TypeOrigin origin);

// Parts of arrays as datatypes (MPI 4.0, 5.1.3 and 5.1.4). The bindings have checked the arguments; nullptr as above.

// A box of `subsizes` elements that begins at `starts`, in an array of `sizes` elements. The type's extent is that of
// the whole array. `order`: MPI_ORDER_C or MPI_ORDER_FORTRAN.
[[nodiscard]] TypePtr make_subarray(std::span<const int> sizes, std::span<const int> subsizes,
                                    std::span<const int> starts, int order, const TypePtr& old, TypeOrigin origin);
// The same with large counts.
[[nodiscard]] TypePtr make_subarray(std::span<const MPI_Count> sizes, std::span<const MPI_Count> subsizes,
                                    std::span<const MPI_Count> starts, int order, const TypePtr& old,
                                    TypeOrigin origin);

// One dimension of a distributed array, and this process's position in it.
struct Distribution {
  std::int64_t array = 1;       // elements of the whole dimension
  std::int64_t block = 1;       // consecutive elements that one process gets in a turn
  std::int64_t processes = 1;   // processes that get blocks in turn
  std::int64_t coordinate = 0;  // position of this process among these
};
// This process's part of the array. The dimensions are in the order of `order`.
[[nodiscard]] TypePtr make_darray(std::span<const Distribution> dimensions, int order, const TypePtr& old,
                                  TypeOrigin origin);

}  // namespace margay::mpi_adi
