#include "mpi/point_to_point/send.hpp"

#include "mpi/call/binding.hpp"
#include "mpi/point_to_point/arguments.hpp"
#include "mpi/point_to_point/completion.hpp"

namespace margay::mpi {

namespace {

// Sends long and synchronous messages, and short ones without room in the ring; out of line. The program's buffer may
// be reused when this returns, not before.
[[gnu::noinline]] int send_and_wait(Call& call, const CheckedSend& send) {
  Request& request = *call.device().start_send(send);
  call.wait(request);
  if (request.error_class != MPI_SUCCESS) {
    call.error(request.error_class, failure_text(call.rank(), request));
  }
  call.device().free(request);
  return call.done();
}

// Records the arguments of a completed send for the list of leaks, because the device keeps no record of it.
[[gnu::noinline]] void record_sent(UserRequest* request, const CheckedSend& send) {
  if (request == nullptr || !request->sent) return;
  request->call.peer = send.destination;
  request->call.tag = send.tag;
  request->call.count = send.count * static_cast<std::int64_t>(send.type->size);
}

}  // namespace

int blocking_send(const Invocation& name, SendMode mode, const SendArguments& arguments) {
  Call call(name);
  const CheckedSend send = check_send(call, mode, arguments);
  if (!call.ok()) [[unlikely]]
    return refuse(call, arguments.destination, arguments.tag);
  // A short message whose ring has room needs no request; a synchronous one has to wait for its receive.
  if (mode != SendMode::synchronous && call.device().send_now(send)) return MPI_SUCCESS;
  return send_and_wait(call, send);
}

int nonblocking_send(const Invocation& name, SendMode mode, const SendArguments& arguments, MPI_Request* request) {
  Call call(name);
  const CheckedSend send = check_send(call, mode, arguments);
  call.not_null(request, "request");
  if (!call.ok()) [[unlikely]]
    return refuse(call, arguments.destination, arguments.tag);
  // A send that completes at once gets the shared handle, and no table entry.
  hand_out(call, call.device().start_send(send), *send.communicator, request);
  if (call.rank().handles().origins() != nullptr && call.ok()) [[unlikely]]
    record_sent(call.rank().handles().request(*request), send);
  return call.done();
}

}  // namespace margay::mpi

// MPI_Send and its modes: blocking, nonblocking and persistent (MPI 4.0, 3.4, 3.7 and 3.9).

using namespace margay::mpi;

// The bindings of one mode: MPI_Send, MPI_Isend and MPI_Send_init, each with its twin for large counts. docs/walk.md
// begins here.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): several names made of one.
#define MARGAY_SEND(name, nonblocking_name, mode)                                                                      \
  MARGAY_TWINS(name, (const void* buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm), {        \
    return blocking_send(called, mode, {buf, count, datatype, dest, tag, comm});                                       \
  })                                                                                                                   \
  MARGAY_TWINS(                                                                                                        \
      nonblocking_name,                                                                                                \
      (const void* buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request), { \
        return nonblocking_send(called, mode, {buf, count, datatype, dest, tag, comm}, request);                       \
      })                                                                                                               \
  MARGAY_TWINS(                                                                                                        \
      name##_init,                                                                                                     \
      (const void* buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request* request), { \
        return persistent_send(called, mode, {buf, count, datatype, dest, tag, comm}, request);                        \
      })

MARGAY_SEND(Send, Isend, SendMode::standard)
MARGAY_SEND(Ssend, Issend, SendMode::synchronous)
MARGAY_SEND(Rsend, Irsend, SendMode::ready)
