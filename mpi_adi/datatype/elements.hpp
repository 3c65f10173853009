// The conversion between received bytes and predefined elements (MPI 4.0, 5.1.11 and 13.3): MPI_Get_elements,
// MPI_Status_set_elements.
#pragma once

#include <cstdint>
#include <optional>

#include "mpi_adi/datatype/definition.hpp"

namespace margay::mpi_adi {

// The number of predefined elements in `bytes`; nullopt if the bytes end inside a predefined element. If the bytes end
// inside an element of `type`, the function walks that element; otherwise it costs a division.
[[nodiscard]] std::optional<std::uint64_t> elements_in(const TypeDefinition& type, std::uint64_t bytes);

// The bytes of the first `elements` predefined elements; nullopt if they exceed 2^63 - 1. A type without elements has
// no bytes.
[[nodiscard]] std::optional<std::uint64_t> bytes_of_elements(const TypeDefinition& type, std::uint64_t elements);

}  // namespace margay::mpi_adi
