// The common part of buffered sends: the message is copied into the attached buffer and sent from there (MPI 4.0, 3.6).
#pragma once

#include "mpi/call/call.hpp"

namespace margay::mpi {

// Starts a buffered send. Returns a request that is complete at once; the room of the copy is freed when the message
// has left. Without room in the buffer: nullptr, with MPI_ERR_BUFFER set. To MPI_PROC_NULL nothing is copied.
[[nodiscard]] Request* start_buffered(Call& call, const CheckedSend& send);

}  // namespace margay::mpi
