// The datatypes that the ABI fixes: basic ones by their handle's index, and the pair types that have padding.
#pragma once

#include <array>
#include <string_view>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/datatype/datatype.hpp"

namespace margay::mpi_adi {

// A basic type's name; empty for a handle of none.
[[nodiscard]] std::string_view basic_type_name(MPI_Datatype handle);
// The basic type of this index (basic_index); MPI_DATATYPE_NULL: there is none.
[[nodiscard]] MPI_Datatype basic_type_of_index(std::uint32_t index);

// One per rank, so that reference counts are its own. Each has its name.
class PredefinedTypes {
 public:
  // Of one rank. What they are made of all ranks of a process have in common.
  PredefinedTypes() : PredefinedTypes(made()) {}
  // nullptr: not a predefined datatype.
  [[nodiscard]] Datatype* find(MPI_Datatype handle) {
    if (is_basic_datatype(handle)) [[likely]] {
      Datatype& type = basic_[basic_index(handle) % kBasicTypeSlots];
      return type.handle == handle ? &type : nullptr;
    }
    return is_pair_datatype(handle) ? &pairs_[handle_index(handle)] : nullptr;
  }

 private:
  PredefinedTypes(const PredefinedTypes&) = default;
  struct Make {};
  explicit PredefinedTypes(Make make);
  [[nodiscard]] static const PredefinedTypes& made();

  std::array<Datatype, kBasicTypeSlots> basic_;
  std::array<Datatype, kPairTypeCount> pairs_;
};

}  // namespace margay::mpi_adi
