// How a process's part in the communication of the world ends, before MPI_Finalize gives anything back.
#pragma once

#include "mpi/call/call.hpp"

namespace margay::mpi {

// Waits until everything that can still move has moved, at all processes; what nothing will ever match is given up.
// Beside sessions, only what is the world's is looked at. False: an error (a process is lost), which `call` has.
[[nodiscard]] bool end_communication(Call& call);

}  // namespace margay::mpi
