// Why a request of the device failed, in words.
#pragma once

#include <string>

#include "mpi_adi/device/request.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi_adi {

// Why a complete request failed, for the error's sentence. Requires: request.error_class is not MPI_SUCCESS.
[[nodiscard, gnu::noinline]] std::string words_of_failure(MpiRank& rank, const Request& request);
// Which processes are lost and why.
[[nodiscard]] std::string words_of_lost(MpiRank& rank);

}  // namespace margay::mpi_adi
