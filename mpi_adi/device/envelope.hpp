// Envelopes of messages: the checked arguments of a send, a receive and a probe, and the result of a probe.
#pragma once

#include <cstdint>

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

// The send modes of MPI 4.0, 3.4.
enum class SendMode : std::uint8_t { standard, synchronous, ready, buffered };

// The context of a message. A communicator has two contexts. Collective calls have a context of their own, so no
// receive of the program matches their messages.
enum class Context : std::uint8_t { point_to_point, collective };

// The envelope of a message that a probe found (MPI 4.0, 3.8.1).
struct Envelope {
  int source = 0;  // as a rank of the communicator
  int tag = 0;
  std::uint64_t bytes = 0;  // of the whole body, wherever it is now
};

// CheckedSend and CheckedReceive are the arguments of a send and of a receive. The binding checks them once; later
// functions pass the object on unchanged. The object must outlive the call that takes it, and the buffer must outlive
// the request. The device takes its own references to the type and the communicator.

struct Communicator;
struct Datatype;

// A send. Its type is committed, its count is not negative, and its tag is valid.
struct CheckedSend {
  // With SendMode::buffered, `buffer` is the copy in the attached buffer (protocol/buffered).
  SendMode mode = SendMode::standard;
  // Only read. Must stay valid and unchanged until the request is complete; MPI_BOTTOM is nullptr.
  const void* buffer = nullptr;
  std::int64_t count = 0;  // elements of `type`
  Datatype* type = nullptr;
  int destination = 0;  // a rank of the communicator, or MPI_PROC_NULL
  int tag = 0;          // the program's, or one of the library's own (device/match_bits)
  Communicator* communicator = nullptr;
  Context context = Context::point_to_point;
  // For a buffered send: the program's send; `buffer` contains a copy of its data. Traces and checks report the
  // program's send. nullptr if `buffer` is the program's own.
  const CheckedSend* copied_from = nullptr;
  // The send as the program made it, for reports.
  [[nodiscard]] const CheckedSend& described() const { return copied_from != nullptr ? *copied_from : *this; }
};

// A receive whose arguments have been checked. Source and tag may be wildcards.
struct CheckedReceive {
  // The program's memory, which the kernel writes until the request is complete.
  void* buffer = nullptr;
  // Elements of `type`. A shorter message is valid, a longer one is truncated (MPI_ERR_TRUNCATE).
  std::int64_t count = 0;
  Datatype* type = nullptr;
  int source = 0;  // a rank of the communicator, MPI_ANY_SOURCE or MPI_PROC_NULL
  int tag = 0;     // or MPI_ANY_TAG
  Communicator* communicator = nullptr;
  Context context = Context::point_to_point;
};

// The message for which a receive or a probe waits, as the call described it. Reports of stalls print it.
struct Awaited {
  int source = MPI_ANY_SOURCE;
  // The message's tag, or MPI_ANY_TAG.
  int tag = MPI_ANY_TAG;
  const Communicator* communicator = nullptr;
};

}  // namespace margay::mpi_adi
