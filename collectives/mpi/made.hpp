// The end of calls that make communicators.
#pragma once

#include "collectives/comm/construct.hpp"
#include "mpi_adi/mpi/call.hpp"

namespace margay::collectives {

// Hands the communicator, or MPI_COMM_NULL, to the program, or raises why there is none; the call's end.
[[nodiscard]] int give_communicator(mpi_adi::Call& call, const Made& made, MPI_Comm* handle);

}  // namespace margay::collectives
