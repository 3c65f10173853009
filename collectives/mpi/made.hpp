// The end of calls that make communicators.
#pragma once

#include "collectives/comm/construct.hpp"
#include "mpi_adi/mpi/call.hpp"

namespace margay::collectives {

// Hands the communicator, or MPI_COMM_NULL, to the program, or raises why there is none; the call's end.
[[nodiscard]] int give_communicator(mpi_adi::Call& call, const Made& made, MPI_Comm* handle);

// The same for a duplicate of `parent`, which takes over its attributes; `hints` null: it has none.
[[nodiscard]] int give_duplicate(mpi_adi::Call& call, mpi_adi::Communicator& parent, Made made, MPI_Comm* handle,
                                 const mpi_adi::Info* hints = nullptr);

}  // namespace margay::collectives
