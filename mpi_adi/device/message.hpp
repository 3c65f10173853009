// Two pooled objects: a message that a matched probe took off the heap's queue (MPI_Message), and a header-only message
// of the device's own.
#pragma once

#include "mpi_adi/device/pool.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::mpi_adi {

struct Communicator;

// A matched message, from the probe until its receive (MPI 4.0, 3.8.2).
struct Message {
  Pooled pooled;
  // The body may still be arriving in the heap. A receive of the message then claims it (ReceiveState::claiming).
  portals::ArrivedMessage* arrived = nullptr;  // in the heap, unlinked and claimed
  Communicator* communicator = nullptr;        // counted in its references
  std::uint32_t peer = 0;                      // rank in the world
  // Whether the body was complete when probed. A complete message keeps its memory even if the sender is lost.
  bool was_complete = false;
};

// A header-only message, such as a synchronous answer or a get, whose wire had no room at once.
// Owned by the pool; it outlives the request that caused it, which may complete before the message has left.
struct HeaderMessage {
  Pooled pooled;
  // Belongs to the kernel until the transmission is finished.
  sim::Transmission transmission;
};

}  // namespace margay::mpi_adi
