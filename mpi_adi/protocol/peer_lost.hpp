// When a peer is lost, every request that only it could complete ends with an error, so that nothing hangs.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Whether what waits for a message from `source` (a rank of the communicator, or MPI_ANY_SOURCE) may wait for ever.
// From any source: as soon as one member is lost, since it may be the one that would have sent
// (MPI_ERR_PROC_FAILED_PENDING of the fault tolerance proposals says the same); a member that had left in order would
// not. What has come already was found before.
[[nodiscard, gnu::noinline]] bool source_among_lost(const DeviceParts& parts, const Communicator& communicator,
                                                    int source);
[[nodiscard]] inline bool source_lost(const DeviceParts& parts, const Communicator& communicator, int source) {
  return parts.kernel.initiator().losses() != 0 && source_among_lost(parts, communicator, source);
}

// Ends what newly lost ranks leave open. Returns whether anything ended.
[[gnu::noinline]] bool end_what_losses_left(DeviceParts& parts);

// The same, once a round: two loads while nobody is lost.
inline bool watch_for_losses(DeviceParts& parts) {
  return parts.losses_ended != parts.kernel.initiator().losses() && end_what_losses_left(parts);
}

// Ends a receive whose sender is lost. No effect while the kernel still refers to its memory.
[[gnu::noinline]] void end_receive_of_lost(DeviceParts& parts, ReceiveRequest& request);

}  // namespace margay::mpi_adi
