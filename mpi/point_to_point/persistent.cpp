// Persistent requests (MPI 4.0, chapter 3.9): the arguments are checked and kept once; the request is started as often
// as the program likes.
#include "mpi/call/binding.hpp"
#include "mpi/point_to_point/arguments.hpp"
#include "mpi/point_to_point/buffered.hpp"
#include "mpi/point_to_point/completion.hpp"
#include "mpi/point_to_point/send.hpp"
#include "mpi_adi/request/upper_layer_request.hpp"

using namespace margay::mpi;

namespace {

// Makes an inactive request with references to communicator and datatype, which the program may free.
int keep(Call& call, Communicator* communicator, const PersistentCall& arguments, MPI_Request* handle) {
  call.not_null(handle, "request");
  if (!call.ok()) return refuse(call, arguments.peer, arguments.tag);
  UserRequest* request = call.rank().handles().add_request(nullptr, *communicator);
  if (request == nullptr) {
    call.error(MPI_ERR_OTHER, "too many requests are alive (2^18); free some first");
    return call.failed();
  }
  request->persistent = true;
  // The entry may have served a persistent collective before.
  request->upper = nullptr;
  ++communicator->references;
  request->call = arguments;
  ++arguments.type->references;
  *handle = request->handle;
  return MPI_SUCCESS;
}

// Checks that a request can be started.
void check_start(Call& call, const UserRequest& request) {
  if (!request.persistent) {
    call.error(MPI_ERR_REQUEST, "the request is not a persistent one");
  } else if (request.device != nullptr) {
    call.error(MPI_ERR_REQUEST, "the persistent request is active already; wait for it before it is started again");
  }
}

// Requires: check_start() found no error.
void start(Call& call, UserRequest& request) {
  if (request.upper != nullptr) {
    request.device = request.upper;  // first: start() may call functions of the program, and let other threads in
    request.upper->start(call.rank());
    return;
  }
  const PersistentCall& kept = request.call;
  if (!kept.is_send) {
    request.device =
        call.device().start_receive({kept.buffer, kept.count, kept.type, kept.peer, kept.tag, request.communicator});
    return;
  }
  const CheckedSend send{kept.mode, kept.buffer, kept.count, kept.type, kept.peer, kept.tag, request.communicator};
  // A buffered send may fail for want of room: then there is no device request, and the call has the error.
  request.device = kept.mode == SendMode::buffered ? start_buffered(call, send) : call.device().start_send(send);
}

}  // namespace

namespace margay::mpi {

int persistent_send(const Invocation& name, SendMode mode, const SendArguments& arguments, MPI_Request* request) {
  Call call(name);
  const CheckedSend checked = check_send(call, mode, arguments);
  PersistentCall kept;
  kept.mode = mode;
  kept.buffer = const_cast<void*>(arguments.buffer);  // a send's buffer is only read; a receive's is written
  kept.count = arguments.count;
  kept.type = checked.type;
  kept.peer = arguments.destination;
  kept.tag = arguments.tag;
  return keep(call, checked.communicator, kept, request);
}

// The arguments are checked now, and used by every start.
int persistent_receive(const Invocation& name, const ReceiveArguments& arguments, MPI_Request* request) {
  Call call(name);
  const CheckedReceive checked = check_receive(call, arguments);
  PersistentCall kept;
  kept.is_send = false;
  kept.buffer = arguments.buffer;
  kept.count = arguments.count;
  kept.type = checked.type;
  kept.peer = arguments.source;
  kept.tag = arguments.tag;
  return keep(call, checked.communicator, kept, request);
}

}  // namespace margay::mpi

extern "C" int PMPI_Start(MPI_Request* request) {
  Call call(call_name<"MPI_Start">);
  call.not_null(request, "request");
  if (!call.ok()) return call.failed();
  UserRequest* found = call.request(*request);
  if (call.ok()) check_start(call, *found);
  if (call.ok()) start(call, *found);
  return call.done();
}
MARGAY_ALIAS(Start)

extern "C" int PMPI_Startall(int count, MPI_Request array_of_requests[]) {
  Call call(call_name<"MPI_Startall">);
  call.count(count);
  if (count > 0) call.not_null(array_of_requests, "array_of_requests");
  for (int i = 0; i < count && call.ok(); ++i) {
    const UserRequest* found = call.request(array_of_requests[i]);
    if (call.ok()) check_start(call, *found);
  }
  // No request is started unless all passed the checks above. A request that is listed twice passed them twice, but is
  // active at its second start, so each is checked again.
  for (int i = 0; i < count && call.ok(); ++i) {
    UserRequest& found = *call.request(array_of_requests[i]);
    check_start(call, found);
    if (call.ok()) start(call, found);
  }
  return call.done();
}
MARGAY_ALIAS(Startall)
