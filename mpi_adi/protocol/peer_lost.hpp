// The end of requests whose peer is lost: each request that only a lost peer could complete ends with
// MPIX_ERR_PROC_FAILED, so that no call waits for ever.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Whether a wait for a message from `source` (a rank of the communicator, or MPI_ANY_SOURCE) may never end. For
// MPI_ANY_SOURCE it is true as soon as one member is lost, because that member might have sent the message
// (MPI_ERR_PROC_FAILED_PENDING of the fault tolerance proposals has the same rule). For MPI_ANY_SOURCE a departed
// member does not count as lost. The caller searches the heap first, so a message that has arrived is still received.
[[nodiscard, gnu::noinline]] bool search_lost_source(const DeviceParts& parts, const Communicator& communicator,
                                                     int source);
// The same. Costs one load while no peer is lost.
[[nodiscard]] inline bool is_source_lost(const DeviceParts& parts, const Communicator& communicator, int source) {
  return parts.kernel.initiator().losses() != 0 && search_lost_source(parts, communicator, source);
}

// Ends the requests that newly lost peers leave open, notifies the observers in on_losses, and wakes all tasks. Returns
// whether any request ended. Requests whose memory the kernel still uses remain for a later round.
[[gnu::noinline]] bool end_requests_after_losses(DeviceParts& parts);

// The same, called in each progress round. Costs two loads while no peer is newly lost.
inline bool handle_new_losses(DeviceParts& parts) {
  return parts.losses_ended != parts.kernel.initiator().losses() && end_requests_after_losses(parts);
}

// Ends a receive whose sender is lost, in any state. No effect while the kernel still refers to its memory.
[[gnu::noinline]] void end_receive_of_lost(DeviceParts& parts, ReceiveRequest& request);

}  // namespace margay::mpi_adi
