// What a program never gave back, listed at MPI_Finalize when MARGAY_LEAKS asks for it.
#pragma once

#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi_adi {

// One line on standard error for each request, communicator, datatype, group, operation, info object, error handler and
// attribute key that is still alive, with the function that made it, and a line with the counts; nothing when there is
// none, or when the rank keeps no origins. Requires: the process lock is held.
void report_leaks(MpiRank& rank);

}  // namespace margay::mpi_adi
