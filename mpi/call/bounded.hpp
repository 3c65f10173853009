// A number for the program, in the integer that the binding gives it.
#pragma once

#include <cstdint>
#include <limits>

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi {

// "If the value cannot be expressed by the integer, MPI_UNDEFINED" (MPI 4.0, 3.2.5, 5.1.5, 5.2).
template <typename Integer>
[[nodiscard]] constexpr Integer bounded(std::uint64_t value) {
  return value <= static_cast<std::uint64_t>(std::numeric_limits<Integer>::max()) ? static_cast<Integer>(value)
                                                                                  : Integer{MPI_UNDEFINED};
}

}  // namespace margay::mpi
