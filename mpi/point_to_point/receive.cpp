// MPI_Recv, MPI_Irecv, MPI_Recv_init, and the combined send and receive (MPI 4.0, chapters 3.2, 3.7, 3.9, 3.10).

#include "mpi/call/binding.hpp"
#include "mpi/point_to_point/arguments.hpp"
#include "mpi/point_to_point/completion.hpp"
#include "mpi/point_to_point/send.hpp"

namespace margay::mpi {

int blocking_receive(const Invocation& name, const ReceiveArguments& arguments, MPI_Status* status) {
  Call call(name);
  const CheckedReceive receive = check_receive(call, arguments);
  call.status(status);
  if (!call.ok()) [[unlikely]]
    return refuse(call, arguments.source, arguments.tag);
  // A receive always has a request, unlike a short send.
  Request& request = *call.device().start_receive(receive);
  call.wait(request);
  finish_device_request(call, request, status);
  return call.done();
}

int nonblocking_receive(const Invocation& name, const ReceiveArguments& arguments, MPI_Request* request) {
  Call call(name);
  const CheckedReceive receive = check_receive(call, arguments);
  call.not_null(request, "request");
  if (!call.ok()) [[unlikely]]
    return refuse(call, arguments.source, arguments.tag);
  hand_out(call, call.device().start_receive(receive), *receive.communicator, request);
  return call.done();
}

}  // namespace margay::mpi

using namespace margay::mpi;

MARGAY_TWINS(Recv,
             (void* buf, Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status), {
               return blocking_receive(called, {buf, count, datatype, source, tag, comm}, status);
             })

MARGAY_TWINS(Irecv,
             (void* buf, Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request),
             {
               return nonblocking_receive(called, {buf, count, datatype, source, tag, comm}, request);
             })

MARGAY_TWINS(Recv_init,
             (void* buf, Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request),
             {
               return persistent_receive(called, {buf, count, datatype, source, tag, comm}, request);
             })

MARGAY_TWINS(Sendrecv,
             (const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
              Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status),
             {
               return send_and_receive(called, {sendbuf, sendcount, sendtype, dest, sendtag, comm},
                                       {recvbuf, recvcount, recvtype, source, recvtag, comm}, status);
             })

// One buffer: it is the argument of both sides.
MARGAY_TWINS(Sendrecv_replace,
             (void* buf, Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
              MPI_Comm comm, MPI_Status* status),
             {
               return send_and_replace(called, {buf, count, datatype, dest, sendtag, comm},
                                       {buf, count, datatype, source, recvtag, comm}, status);
             })

MARGAY_TWINS(Isendrecv,
             (const void* sendbuf, Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
              Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request* request),
             {
               return start_send_and_receive(called, {sendbuf, sendcount, sendtype, dest, sendtag, comm},
                                             {recvbuf, recvcount, recvtype, source, recvtag, comm}, request);
             })

MARGAY_TWINS(Isendrecv_replace,
             (void* buf, Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
              MPI_Comm comm, MPI_Request* request),
             {
               return start_send_and_replace(called, {buf, count, datatype, dest, sendtag, comm},
                                             {buf, count, datatype, source, recvtag, comm}, request);
             })
