// The datatypes that the ABI fixes: basic ones by their handle's index, and the pair types that have padding.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/datatype/datatype.hpp"

namespace margay::mpi_adi {

// A basic type's name; empty for a handle of none.
[[nodiscard]] std::string_view basic_type_name(MPI_Datatype handle);
// The basic type of this index (basic_index); MPI_DATATYPE_NULL: there is none.
[[nodiscard]] MPI_Datatype basic_type_of_index(std::uint32_t index);
// What a predefined type is, whatever the handle's bits say; nullptr: the handle names none. For handles that come from
// another process.
[[nodiscard]] const TypeDefinition* predefined_definition(MPI_Datatype handle);

// One per rank, so that reference counts are its own. Each has its name.
class PredefinedTypes {
 public:
  // Of one rank. What they are made of all ranks of a process have in common.
  PredefinedTypes() : PredefinedTypes(made()) {}
  // nullptr: not a predefined datatype.
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
  struct Make {};
  explicit PredefinedTypes(Make make);
  [[nodiscard]] static const PredefinedTypes& made();

  std::array<Datatype, kBasicTypeSlots> basic_;
  std::array<Datatype, kPairTypeCount> pairs_;
};

// Predefined types by size, and by what a Fortran program asks of a kind's precision and range (MPI 4.0, 19.1.9).

// MPI_DATATYPE_NULL: there is no such type. `type_class`: MPI_TYPECLASS_REAL, _INTEGER or _COMPLEX; `size` in bytes.
[[nodiscard]] MPI_Datatype type_of_size(int type_class, int size);

// The smallest type with `digits` decimal digits and a decimal exponent range of `range`, as the processor's Fortran
// compilers choose it; MPI_UNDEFINED asks for nothing. MPI_DATATYPE_NULL: none is large enough.
[[nodiscard]] MPI_Datatype real_of(int digits, int range);
[[nodiscard]] MPI_Datatype complex_of(int digits, int range);
[[nodiscard]] MPI_Datatype integer_of(int range);

}  // namespace margay::mpi_adi
