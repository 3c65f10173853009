// The end of a job by an MPI call that failed and whose error handler is fatal (MPI 4.0, 9.3).
#pragma once

#include <string>

#include "mpi/call/call_name.hpp"

namespace margay::mpi_adi {
class MpiRank;
}  // namespace margay::mpi_adi

namespace margay::mpi {

// The message: "MPI_Recv (ring.c:41) failed on MPI_COMM_WORLD: MPI_ERR_TRUNCATE: ...". `where` begins with a space, or
// is empty; `text` explains the error, with or without the function's name.
[[nodiscard]] std::string fatal_sentence(mpi_adi::MpiRank& rank, const CallName& name, const std::string& where,
                                         std::string text);

// Records the finding of `error_class` and ends the job with the message. Requires: this thread is inside the rank.
[[noreturn]] void abort_by_error(mpi_adi::MpiRank& rank, const CallName& name, int error_class,
                                 const std::string& where, const std::string& text);

}  // namespace margay::mpi
