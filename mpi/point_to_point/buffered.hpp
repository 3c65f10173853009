// The common part of buffered sends: the message is copied into the attached buffer and sent from there.
#pragma once

#include "mpi/call/call.hpp"

namespace margay::mpi {

// nullptr when there is no room: the call has MPI_ERR_BUFFER then. The request is complete at once for its user; the
// copy's room comes back when the message has gone.
[[nodiscard]] Request* start_buffered(Call& call, const CheckedSend& send);

}  // namespace margay::mpi
