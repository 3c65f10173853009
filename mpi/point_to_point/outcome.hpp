// What a complete request of the device tells the program: a status, and why it failed.
#pragma once

#include "mpi/call/call.hpp"
#include "mpi_adi/abi/status.hpp"
#include "mpi_adi/device/request.hpp"
#include "mpi_adi/rank/failure.hpp"

namespace margay::mpi {

// What a complete request says, as a status. Leaves MPI_ERROR alone.
inline void status_of(const Request& request, MPI_Status* status) {
  if (ignores(status)) return;
  if (request.kind == RequestKind::receive) {
    fill_status(status, request.source, request.tag, request.bytes);
  } else {
    empty_status(status);
  }
  set_status_cancelled(*status, request.cancelled);
}
// Takes a complete request's status and error into the call, and gives the request back.
inline void finish_device_request(Call& call, Request& request, MPI_Status* status) {
  status_of(request, status);
  if (request.error_class != MPI_SUCCESS) call.error(request.error_class, words_of_failure(call.rank(), request));
  call.device().free(request);
}

}  // namespace margay::mpi
