// The definition of a datatype, without its handle: shared by the types that were made of it or are copies of it.
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
// Immutable once made, and counted: a definition lives as long as a handle, a message under way or another type needs
// it. Freeing a handle therefore never invalidates a message.
using TypePtr = std::shared_ptr<const TypeDefinition>;

// The call that made the type, in the order of MPI_Type_get_contents (MPI 4.0, 5.1.13).
struct TypeOrigin {
  int combiner = MPI_COMBINER_NAMED;
  // The call's arguments by kind.
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<TypePtr> types;
  std::vector<MPI_Count> counts = {};  // numbers of a `_c` constructor that are MPI_Count arguments
};

// Bounds in bytes from the element's address. They may be negative, and so may the extent.
struct TypeBounds {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
};

// All that is fixed when a type is made. Built by TypeBuilder or the table of predefined types.
struct TypeDefinition {
  TypeDefinition() = default;
  TypeDefinition(const TypeDefinition&) = delete;
  TypeDefinition& operator=(const TypeDefinition&) = delete;
  // Destroys the types below in a loop, as a layout does: nesting may be deeper than a stack.
  ~TypeDefinition();

  std::uint64_t size = 0;           // bytes of data in one element
  std::uint64_t elements = 0;       // predefined elements in one element; a pair counts as two
  std::uint64_t external_size = 0;  // bytes of one element in external32
  TypeBounds bounds;                // MPI_Type_get_extent's; all 0 for a type without elements and markers
  TypeBounds true_bounds;           // of the data alone, without padding and markers
  // Whether a bound was set (MPI_Type_create_resized, MPI_LB, MPI_UB) instead of found: types made of this one inherit
  // it.
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
  // The predefined type of all its data; 0 if it is empty or mixed.
  [[nodiscard]] int basic() const { return signature.is_run() ? signature.node->leaf : 0; }
  // Whether it contributes bounds to types made of it.
  [[nodiscard]] bool has_bounds() const { return elements != 0 || lower_set || upper_set; }
};

}  // namespace margay::mpi_adi
