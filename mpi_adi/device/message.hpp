// A message that a matched probe took off the heap's queue (MPI_Message), and a header-only message of the device's
// own.
#pragma once

#include "mpi_adi/device/pool.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::mpi_adi {

struct Communicator;

struct Message {
  Pooled pooled;
  portals::ArrivedMessage* arrived = nullptr;
  Communicator* communicator = nullptr;  // holds a reference
  std::uint32_t peer = 0;                // rank in the world
  bool was_complete = false;             // when probed: its memory stays whatever happens to its sender
};

// A synchronous answer or a get that found its wire full.
struct Notice {
  Pooled pooled;
  sim::Transmission transmission;
};

}  // namespace margay::mpi_adi
