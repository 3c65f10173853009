// A message that a matched probe took off the heap's queue (MPI_Message), and a header-only message of the device's
// own. Both are pooled.
#pragma once

#include "mpi_adi/device/pool.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::mpi_adi {

struct Communicator;

// A matched message, from the probe until its receive (MPI 4.0, 3.8.2).
struct Message {
  Pooled pooled;
  // Its body may still be arriving in the heap; a receive of it then claims it (ReceiveState::claiming).
  portals::ArrivedMessage* arrived = nullptr;  // in the heap, unlinked and claimed
  Communicator* communicator = nullptr;        // refers to it: counted in references
  std::uint32_t peer = 0;                      // rank in the world
  bool was_complete = false;                   // when probed; then its memory stays even if the sender is lost
};

// A header-only message, such as a synchronous answer or a get, whose wire had no room at once.
// Owned by the pool; it outlives the request that caused it, which may complete before the notice has left.
struct Notice {
  Pooled pooled;
  // The kernel's until it is finished.
  sim::Transmission transmission;
};

}  // namespace margay::mpi_adi
