// Error handlers made and freed while there is no rank: before the first session, and after the last one (MPI 4.0,
// 11.4.1).
#pragma once

#include "mpi_adi/mpi/call.hpp"

namespace margay::mpi_adi {

// Each is a whole call. Requires: current_rank() is null.
[[nodiscard]] int create_early_handler(const CallName& name, ObjectType of, HandlerFunction function,
                                       MPI_Errhandler* handler);
[[nodiscard]] int free_early_handler(const CallName& name, MPI_Errhandler* handler);

}  // namespace margay::mpi_adi
