// A send or a receive under way: what MPI_Request names.
#pragma once

#include <cstdint>

namespace margay::mpi_adi {

struct Communicator;

enum class RequestKind : std::uint8_t { send, receive };

// The public face of a request; the protocols' own parts are in the derived SendRequest and ReceiveRequest. From the
// device's pools; addresses are stable.
struct Request {
  RequestKind kind = RequestKind::send;
  bool complete = false;
  bool cancelled = false;
  bool detached = false;                 // freed by the user before it was complete
  int error_class = 0;                   // MPI_SUCCESS, MPI_ERR_TRUNCATE, ...
  int source = 0;                        // receive: rank in the communicator
  int tag = 0;                           // receive: the message's
  std::uint64_t bytes = 0;               // receive: bytes saved in the buffer
  Communicator* communicator = nullptr;  // holds a reference
  void* user = nullptr;                  // the bindings' own (persistent requests, buffered sends)
};

}  // namespace margay::mpi_adi
