// The end of calls that make communicators.
#pragma once

#include "collectives/comm/construct.hpp"
#include "mpi/call/call.hpp"

namespace margay::mpi {

// Hands the communicator, or MPI_COMM_NULL, to the program, or raises why there is none; the call's end.
[[nodiscard]] int give_communicator(Call& call, const Made& made, MPI_Comm* handle);

// The same for a duplicate of `parent`, which takes over its attributes; `hints` null: it has none.
[[nodiscard]] int give_duplicate(Call& call, Communicator& parent, Made made, MPI_Comm* handle,
                                 const Info* hints = nullptr);

}  // namespace margay::mpi
