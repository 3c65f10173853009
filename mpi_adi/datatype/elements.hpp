// How many predefined elements a number of received bytes is (MPI 4.0, 5.1.11).
#pragma once

#include <cstdint>
#include <optional>

#include "mpi_adi/datatype/definition.hpp"

namespace margay::mpi_adi {

// Nothing when the bytes end inside a predefined element. Costs a walk over one element when they end inside one of
// `type`, else nothing.
[[nodiscard]] std::optional<std::uint64_t> elements_in(const TypeDefinition& type, std::uint64_t bytes);

}  // namespace margay::mpi_adi
