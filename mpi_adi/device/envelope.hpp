// Envelopes of messages: the arguments of a send, a receive and a probe, and the result of a probe.
#pragma once

#include <cstdint>

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

enum class SendMode : std::uint8_t { standard, synchronous, ready, buffered };

// Which of a communicator's two contexts a message travels in.
enum class Context : std::uint8_t { point_to_point, collective };

// An envelope as probes tell it.
struct Envelope {
  int source = 0;  // rank in the communicator
  int tag = 0;
  std::uint64_t bytes = 0;
};

// A send's and a receive's arguments, checked once by who was called and passed on as they are. Both objects and the
// buffer outlive the call that takes them; what the device keeps it refers to itself.

struct Communicator;
struct Datatype;

struct CheckedSend {
  SendMode mode = SendMode::standard;
  const void* buffer = nullptr;
  std::int64_t count = 0;
  Datatype* type = nullptr;
  int destination = 0;  // a rank of the communicator, or MPI_PROC_NULL
  int tag = 0;
  Communicator* communicator = nullptr;
  Context context = Context::point_to_point;
  // The program's send of which `buffer` has a copy, for what is told of it; null: the buffer is the program's.
  const CheckedSend* copied_from = nullptr;
  [[nodiscard]] const CheckedSend& told() const { return copied_from != nullptr ? *copied_from : *this; }
};

struct CheckedReceive {
  void* buffer = nullptr;
  std::int64_t count = 0;
  Datatype* type = nullptr;
  int source = 0;  // a rank of the communicator, MPI_ANY_SOURCE or MPI_PROC_NULL
  int tag = 0;     // or MPI_ANY_TAG
  Communicator* communicator = nullptr;
  Context context = Context::point_to_point;
};

// What a receive or a probe waits for, as the call named it.
struct Awaited {
  int source = MPI_ANY_SOURCE;
  int tag = MPI_ANY_TAG;
  const Communicator* communicator = nullptr;
};

}  // namespace margay::mpi_adi
