// The object behind an MPI_Request handle: a device request under way, a persistent one that may be started again, or
// one of mpi_adi/request.
#pragma once

#include <cstdint>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/progress/device.hpp"

namespace margay::mpi_adi {

// The arguments of a persistent send or receive, which each MPI_Start uses again (MPI 4.0, 3.9). The bindings checked
// them once, when the request was made.
struct PersistentCall {
  bool is_send = true;
  SendMode mode = SendMode::standard;
  // The program's buffer; a send only reads it.
  void* buffer = nullptr;
  // Elements of `type`, not bytes.
  std::int64_t count = 0;
  Datatype* type = nullptr;  // refers to it: counted in references
  int peer = 0;              // destination or source: a rank of the communicator, or a wildcard
  int tag = 0;
};

struct OwnRequest;  // mpi_adi/request/own_request.hpp

// The handle's target. Pooled by Handles, so its address is never freed while the rank lives; valid from add_request()
// to free_request().
struct UserRequest {
  Handle handle = 0;
  Request* device = nullptr;  // under way or complete; nullptr: an inactive persistent request
  // The communicator whose error handler is called. A persistent request refers to it itself, and so does one of a
  // completed send; otherwise `device` does.
  Communicator* communicator = nullptr;
  bool persistent = false;
  bool sent = false;    // not persistent; `device` is the common completed send
  bool common = false;  // the one of all completed sends, while origins are not kept: never freed
  // Also of a completed send, if origins are kept: peer, tag, and its bytes as the count.
  PersistentCall call;
  OwnRequest* own = nullptr;  // of a persistent one that a higher layer carries out; otherwise meaningless
  // Link of the free list of Handles; meaningless while the request has a handle.
  UserRequest* next_free = nullptr;
};

}  // namespace margay::mpi_adi
