// What an MPI_Request handle names: a device request under way, or a persistent one that may be started again.
#pragma once

#include <cstdint>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/progress/device.hpp"

namespace margay::mpi_adi {

// The arguments of a persistent send or receive.
struct PersistentCall {
  bool is_send = true;
  SendMode mode = SendMode::standard;
  void* buffer = nullptr;
  std::int64_t count = 0;
  Datatype* type = nullptr;  // holds a reference
  int peer = 0;
  int tag = 0;
};

struct OwnRequest;  // mpi_adi/request/own_request.hpp

struct UserRequest {
  Handle handle = 0;
  Request* device = nullptr;  // under way or complete; nullptr: an inactive persistent request
  // Whose error handler is asked. A persistent request holds a reference, and so does one for a send that is over; of
  // another, `device` does.
  Communicator* communicator = nullptr;
  bool persistent = false;
  bool sent = false;    // not persistent, and `device` says that it is over
  bool common = false;  // the one of all sends that are over, while origins are not noted: it is never freed
  // Of a send that is over too, if origins are noted: peer, tag, and as count its bytes.
  PersistentCall call;
  OwnRequest* own = nullptr;  // of a persistent one that a layer above carries out; otherwise without meaning
  UserRequest* next_free = nullptr;
};

}  // namespace margay::mpi_adi
