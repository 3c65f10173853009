// The datatypes that the ABI fixes: basic types, found by their handle's index, and the pair types with padding.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/datatype/datatype.hpp"

namespace margay::mpi_adi {

// A basic type's name; empty for a handle that names no basic type.
[[nodiscard]] std::string_view basic_type_name(MPI_Datatype handle);
// The basic type of this index (basic_index), or MPI_DATATYPE_NULL.
[[nodiscard]] MPI_Datatype basic_type_of_index(std::uint32_t index);
// The definition of a predefined type, or nullptr. Valid for any bits, so it may be called with a handle that another
// process sent.
[[nodiscard]] const TypeDefinition* predefined_definition(MPI_Datatype handle);

// The predefined datatypes of one rank. Each rank has its own objects, because each rank has its own reference counts,
// names and attributes.
class PredefinedTypes {
 public:
  // Copies the process's table. All ranks of a process share the definitions.
  PredefinedTypes() : PredefinedTypes(made()) {}
  // The datatype of a handle, or nullptr. On the path of each message; costs an index and a comparison.
  [[nodiscard]] const Datatype* find(MPI_Datatype handle) const {
    if (is_basic_datatype(handle)) [[likely]] {
      const Datatype& type = basic_[basic_index(handle) % kBasicTypeSlots];
      return type.handle == handle ? &type : nullptr;
    }
    return is_pair_datatype(handle) ? &pairs_[handle_index(handle)] : nullptr;
  }
  [[nodiscard]] Datatype* find(MPI_Datatype handle) { return const_cast<Datatype*>(std::as_const(*this).find(handle)); }

 private:
  friend const TypeDefinition* predefined_definition(MPI_Datatype handle);
  PredefinedTypes(const PredefinedTypes&) = default;
  // Selects the constructor of the process's table.
  struct Make {};
  explicit PredefinedTypes(Make make);
  // The process's table, made at its first use.
  [[nodiscard]] static const PredefinedTypes& made();

  // Indexed by basic_index(). Unused slots have handle 0, which differs from every handle that is looked up here.
  std::array<Datatype, kBasicTypeSlots> basic_;
  // Indexed by the index of their direct handles.
  std::array<Datatype, kPairTypeCount> pairs_;
};

// Choices of predefined types, by size, and by the precision and range that a Fortran program requires (MPI 4.0,
// 19.1.9).

// The type of this size in bytes, or MPI_DATATYPE_NULL if there is none (MPI_Type_match_size). `type_class`:
// MPI_TYPECLASS_REAL, _INTEGER or _COMPLEX.
[[nodiscard]] MPI_Datatype type_of_size(int type_class, int size);

// The smallest type with at least `digits` decimal digits and a decimal exponent range of `range`, as the Fortran
// compilers for this processor choose it. MPI_UNDEFINED for either requires nothing. MPI_DATATYPE_NULL: none is large
// enough.
[[nodiscard]] MPI_Datatype real_of(int digits, int range);
[[nodiscard]] MPI_Datatype complex_of(int digits, int range);
// The smallest integer type for numbers of `range` decimal digits.
[[nodiscard]] MPI_Datatype integer_of(int range);

}  // namespace margay::mpi_adi
