// How a process's part in the communication of the world ends, before MPI_Finalize gives anything back.
#pragma once

#include "mpi_adi/mpi/call.hpp"

namespace margay::collectives {

// Waits until everything that can still move has moved, at all processes; what nothing will ever match is given up.
// Beside sessions, only what is the world's is looked at. False: an error (a process is lost), which `call` has.
[[nodiscard]] bool end_communication(mpi_adi::Call& call);

}  // namespace margay::collectives
