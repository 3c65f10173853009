// When a peer is lost, every request that only it could complete ends with an error, so that nothing hangs.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Looks at one rank a round, so that looking costs nothing; ends what a newly lost one leaves open. Returns whether
// anything ended.
bool watch_for_losses(DeviceParts& parts);

// Ends a receive whose sender is lost. No effect while the kernel still refers to its memory.
void end_receive_of_lost(DeviceParts& parts, ReceiveRequest& request);

}  // namespace margay::mpi_adi
