// Buffered sends and their buffer (MPI 4.0, 3.4 and 3.6).

#include "mpi_adi/protocol/buffered.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/point_to_point/arguments.hpp"
#include "mpi/point_to_point/send.hpp"
#include "mpi_adi/rank/wait.hpp"

namespace margay::mpi {

// The copy is a send of its own, which the rank's buffer owns.
Request* start_buffered(Call& call, const CheckedSend& send) {
  // Nothing is sent to MPI_PROC_NULL, so no room is needed.
  if (send.destination != MPI_PROC_NULL) {
    const portals::Status sent = call.rank().buffered().send(send);
    if (!sent.ok()) {
      call.error(MPI_ERR_BUFFER, sent.sentence());
      return nullptr;
    }
  }
  // The program's part is complete at once, as is a send to MPI_PROC_NULL.
  return &call.device().sent();
}

}  // namespace margay::mpi

using namespace margay::mpi;

namespace {

int bsend(Call& call, const SendArguments& arguments) {
  const CheckedSend send = check_send(call, SendMode::buffered, arguments);
  if (!call.ok()) return call.failed();
  if (Request* const started = start_buffered(call, send); started != nullptr) call.device().free(*started);
  return call.done();
}

int ibsend(Call& call, const SendArguments& arguments, MPI_Request* request) {
  call.not_null(request, "request");
  const CheckedSend send = check_send(call, SendMode::buffered, arguments);
  if (!call.ok()) return call.failed();
  Request* const started = start_buffered(call, send);
  if (started != nullptr) hand_out(call, started, *send.communicator, request);
  return call.done();
}

// A process has one buffer (MPI 4.0, 3.6).
int attach(Call& call, void* buffer, MPI_Count size) {
  if (size < 0) call.error(MPI_ERR_ARG, "size is " + std::to_string(size) + ", below 0");
  // An empty buffer may be null, as MPI_Buffer_detach returns it.
  if (size > 0) call.not_null(buffer, "buffer");
  if (!call.ok()) return call.failed();
  const margay::portals::Status attached = call.rank().buffered().attach(buffer, static_cast<std::uint64_t>(size));
  if (!attached.ok()) call.error(MPI_ERR_BUFFER, attached.sentence());
  return call.done();
}

// Waits until all buffered messages have left. `buffer_addr` is the address of a pointer. Without an attached buffer
// the call returns null and 0. A library can thus always detach the program's buffer and attach it again later (MPICH's
// manual page).
template <typename Count>
int detach(Call& call, void* buffer_addr, Count* size) {
  call.not_null(buffer_addr, "buffer_addr");
  call.not_null(size, "size");
  if (!call.ok()) return call.failed();
  wait_until(call.rank(), [&call] { return call.rank().buffered().drained(); });
  void* base = nullptr;
  std::uint64_t bytes = 0;
  call.rank().buffered().detach(base, bytes);
  *static_cast<void**>(buffer_addr) = base;
  *size = bounded<Count>(bytes);
  return MPI_SUCCESS;
}

}  // namespace

MARGAY_TWINS(Bsend, (const void* buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm), {
  Call call(called);
  return bsend(call, {buf, count, datatype, dest, tag, comm});
})

MARGAY_TWINS(Ibsend,
             (const void* buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request* request),
             {
               Call call(called);
               return ibsend(call, {buf, count, datatype, dest, tag, comm}, request);
             })

MARGAY_TWINS(Bsend_init,
             (const void* buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request* request),
             {
               return persistent_send(called, SendMode::buffered, {buf, count, datatype, dest, tag, comm}, request);
             })

MARGAY_TWINS(Buffer_attach, (void* buffer, Count size), {
  Call call(called);
  return attach(call, buffer, size);
})

MARGAY_TWINS(Buffer_detach, (void* buffer_addr, Count* size), {
  Call call(called);
  return detach(call, buffer_addr, size);
})
