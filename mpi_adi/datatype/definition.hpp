// The definition of a datatype, without its handle. Types that were made of a type refer to its definition. A duplicate
// has a definition of its own, which shares the layout.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/datatype/elements_layout.hpp"
#include "mpi_adi/datatype/layout.hpp"

namespace margay::mpi_adi {

struct TypeDefinition;
// A counted reference to a definition, which is immutable once made. The definition lives as long as a handle, a
// message in progress or another type refers to it, so freeing a handle never invalidates a message.
using TypePtr = std::shared_ptr<const TypeDefinition>;

// The call that made the type, in the order of MPI_Type_get_contents (MPI 4.0, 5.1.13).
struct TypeOrigin {
  int combiner = MPI_COMBINER_NAMED;
  // The call's arguments by kind.
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<TypePtr> types;
  std::vector<MPI_Count> counts = {};  // the MPI_Count arguments of a `_c` constructor
};

// Bounds in bytes from the element's address (MPI 4.0, 5.1.7). They may be negative, and so may the extent.
struct TypeBounds {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
};

// Everything that is constant from a type's construction on. Built by TypeBuilder or by the table of predefined types.
struct TypeDefinition {
  TypeDefinition() = default;
  TypeDefinition(const TypeDefinition&) = delete;
  TypeDefinition& operator=(const TypeDefinition&) = delete;
  // Uses a loop to destroy the definitions of which this one is made, because recursion could overflow the stack.
  ~TypeDefinition();

  std::uint64_t size = 0;           // bytes of data in one element
  std::uint64_t elements = 0;       // predefined elements in one element; a pair counts as two
  std::uint64_t external_size = 0;  // bytes of one element in external32
  TypeBounds bounds;                // MPI_Type_get_extent's; all 0 for a type without elements and markers
  TypeBounds true_bounds;           // of the data alone, without padding and markers
  // Whether a bound was set (MPI_Type_create_resized, MPI_LB, MPI_UB) instead of computed from the data. Types made of
  // this one inherit a set bound.
  bool lower_set = false;
  bool upper_set = false;
  std::uint32_t alignment = 1;  // of the strictest element, for the padding of structs
  Layout layout;                // the places of the data
  Layout signature;             // the types of the data; its leaves are handles of predefined types
  int predefined = 0;           // the handle, if the ABI fixes it; otherwise 0
  TypeOrigin origin;
  // The layout of any number of consecutive elements; made last, from `layout` and the extent.
  std::optional<ElementsLayout> in_a_row;

  // Bytes from one element to the next in a buffer; negative if the bounds are reversed.
  [[nodiscard]] std::int64_t extent() const { return bounds.upper - bounds.lower; }
  // The predefined type, if all of the data has the same; 0 if the type is empty or mixed.
  [[nodiscard]] int basic() const { return signature.is_run() ? signature.node->leaf : 0; }
  // Whether types that are made of this type take bounds from it.
  [[nodiscard]] bool has_bounds() const { return elements != 0 || lower_set || upper_set; }
};

}  // namespace margay::mpi_adi
