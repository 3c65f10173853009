// The object behind an MPI_Request handle: a device request under way, a persistent one that may be started again, or
// one of mpi_adi/request.
#pragma once

#include <cstdint>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/progress/device.hpp"

namespace margay::mpi_adi {

// The arguments of a persistent send or receive, which each MPI_Start uses again.
struct PersistentCall {
  bool is_send = true;
  SendMode mode = SendMode::standard;
  void* buffer = nullptr;
  std::int64_t count = 0;
  Datatype* type = nullptr;  // refers to it: counted in references
  int peer = 0;              // destination or source: a rank of the communicator, or a wildcard
  int tag = 0;
};

struct OwnRequest;  // mpi_adi/request/own_request.hpp

// Pooled by Handles. Valid from add_request() to free_request().
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
  UserRequest* next_free = nullptr;
};

}  // namespace margay::mpi_adi
