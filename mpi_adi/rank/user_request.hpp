// The object behind an MPI_Request handle: a device's request under way, a persistent request, which may be started
// again, or a request of mpi_adi/request.
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
  Datatype* type = nullptr;  // counted in its references
  int peer = 0;              // destination or source: a rank of the communicator, or a wildcard
  int tag = 0;
};

struct UpperLayerRequest;  // mpi_adi/request/upper_layer_request.hpp

// The handle's target. Pooled by Handles, so its address is never freed while the rank lives; valid from add_request()
// to free_request().
struct UserRequest {
  Handle handle = 0;
  Request* device = nullptr;  // under way or complete; nullptr: an inactive persistent request
  // The communicator whose error handler is called. A persistent request and a completed send's request have a
  // reference to it; otherwise the device's request has one.
  Communicator* communicator = nullptr;
  bool persistent = false;
  bool sent = false;    // not persistent; `device` is the common completed send
  bool common = false;  // the common request of all completed sends, if origins are not kept; never freed
  // Also describes a completed send, if origins are kept: peer, tag, and its bytes as the count.
  PersistentCall call;
  // The request behind a persistent request of an upper layer; otherwise meaningless.
  UpperLayerRequest* upper = nullptr;
  // Link of the free list of Handles; meaningless while the request has a handle.
  UserRequest* next_free = nullptr;
};

}  // namespace margay::mpi_adi
