// Statuses and completion of the layer's requests.
#pragma once

#include "mpi_adi/abi/mpi.h"

#include "libraries/nexus_mpi/layer.hpp"

namespace margay::nexus_mpi {

// Sets the status of a message or of an empty one.
void set_status(MPI_Status* status, int source, int tag, std::size_t bytes, bool is_cancelled = false);
void set_status(MPI_Status* status, const Request& request);
void set_empty(MPI_Status* status);

// Waits for a request, of the layer or of margay's MPI, in the name of `call`. Returns its error, after the call of the
// error handler.
[[nodiscard]] int wait_for(const char* call, MPI_Request& request, MPI_Status* status);

}  // namespace margay::nexus_mpi
