// Error messages about failed requests and lost processes, for the errors that a call raises. Under the process lock;
// used after an error only, so their cost does not matter.
#pragma once

#include <string>

#include "mpi_adi/device/request.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi_adi {

// The reason why a complete request failed. Requires: request.error_class is not MPI_SUCCESS.
[[nodiscard, gnu::noinline]] std::string failure_text(MpiRank& rank, const Request& request);
// The lost processes and the reasons of their loss.
// If the message names no process, another member of the call reported the loss first.
[[nodiscard]] std::string lost_text(MpiRank& rank);

}  // namespace margay::mpi_adi
