// How many predefined elements a number of received bytes is, and the other way round (MPI 4.0, 5.1.11, 3.8.5).
#pragma once

#include <cstdint>
#include <optional>

#include "mpi_adi/datatype/definition.hpp"

namespace margay::mpi_adi {

// Nothing when the bytes end inside a predefined element. Costs a walk over one element when they end inside one of
// `type`, else nothing.
[[nodiscard]] std::optional<std::uint64_t> elements_in(const TypeDefinition& type, std::uint64_t bytes);

// The bytes of the first `elements` predefined elements; nothing above 2^63. A type without elements has no bytes.
[[nodiscard]] std::optional<std::uint64_t> bytes_of_elements(const TypeDefinition& type, std::uint64_t elements);

}  // namespace margay::mpi_adi
