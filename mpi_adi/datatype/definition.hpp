// What a datatype is, apart from the handle that names it: shared by the types that are made of it or are copies of it.
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
// Not changed once made, and counted: a type lives as long as a handle, a message under way or another type needs it.
using TypePtr = std::shared_ptr<const TypeDefinition>;

// The call that made the type, in the order of MPI_Type_get_contents (MPI 4.0, 5.1.13).
struct TypeOrigin {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<TypePtr> types;
  std::vector<MPI_Count> counts = {};  // every number of a `_c` constructor that takes it as MPI_Count
};

// Bounds in bytes from the element's address; they may be negative, and the extent too.
struct TypeBounds {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
};

struct TypeDefinition {
  TypeDefinition() = default;
  TypeDefinition(const TypeDefinition&) = delete;
  TypeDefinition& operator=(const TypeDefinition&) = delete;
  // In a loop, as a layout does.
  ~TypeDefinition();

  std::uint64_t size = 0;           // bytes of data in one element
  std::uint64_t elements = 0;       // predefined ones in one element; a pair is two
  std::uint64_t external_size = 0;  // bytes of one element in external32
  TypeBounds bounds;                // MPI_Type_get_extent; all 0 for a type without elements and markers
  TypeBounds true_bounds;           // of the data alone
  // A bound that was set (MPI_Type_create_resized, MPI_LB, MPI_UB) and not found: it holds in types made of this one.
  bool lower_set = false;
  bool upper_set = false;
  std::uint32_t alignment = 1;  // of the strictest element, for the padding of structs
  Layout layout;                // where the data lies
  Layout signature;             // what the data is; its leaves are handles of predefined types
  int predefined = 0;           // the handle of a type that the ABI fixes
  TypeOrigin origin;
  // Of elements in a row; made last.
  std::optional<ElementsLayout> in_a_row;

  [[nodiscard]] std::int64_t extent() const { return bounds.upper - bounds.lower; }
  // The one predefined type that all of it is; 0 when it is empty or mixed.
  [[nodiscard]] int basic() const { return signature.is_run() ? signature.node->leaf : 0; }
  [[nodiscard]] bool has_bounds() const { return elements != 0 || lower_set || upper_set; }
};

}  // namespace margay::mpi_adi
