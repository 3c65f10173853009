// MPI_Recv, MPI_Irecv, and the combined send and receive (MPI 4.0, chapters 3.2, 3.7, 3.10).
#include <vector>

#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/receive_call.hpp"
#include "mpi_adi/mpi/send_call.hpp"

using namespace margay::mpi_adi;

extern "C" int PMPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                         MPI_Status* status) {
  Call call(call_name<"MPI_Recv">);
  const CheckedReceive checked = check_receive(call, {buf, count, datatype, source, tag, comm});
  if (!call.ok()) [[unlikely]]
    return call.failed();
  Request& request = *call.device().start_receive(buf, count, *checked.type, source, tag, *checked.communicator);
  call.wait(request);
  finish_device_request(call, request, status);
  return call.done();
}
MARGAY_ALIAS(Recv)

extern "C" int PMPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  Call call(call_name<"MPI_Irecv">);
  const CheckedReceive checked = check_receive(call, {buf, count, datatype, source, tag, comm});
  call.not_null(request, "request");
  if (!call.ok()) [[unlikely]]
    return call.failed();
  hand_out(call, call.device().start_receive(buf, count, *checked.type, source, tag, *checked.communicator),
           *checked.communicator, request);
  return call.done();
}
MARGAY_ALIAS(Irecv)

extern "C" int PMPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                             MPI_Comm comm, MPI_Status* status) {
  Call call(call_name<"MPI_Sendrecv">);
  return send_and_receive(call, {sendbuf, sendcount, sendtype, dest, sendtag, comm},
                          {recvbuf, recvcount, recvtype, source, recvtag, comm}, status);
}
MARGAY_ALIAS(Sendrecv)

extern "C" int PMPI_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                     int recvtag, MPI_Comm comm, MPI_Status* status) {
  Call call(call_name<"MPI_Sendrecv_replace">);
  const CheckedSend checked = check_send(call, {buf, count, datatype, dest, sendtag, comm});
  if (!call.ok()) [[unlikely]]
    return call.failed();
  // What goes out is copied first: the arriving message may land in the buffer before the send is done with it.
  const TypedCopy copy(*checked.type, buf, count);
  return send_and_receive(call, {copy.bytes(), copy.size(), MPI_BYTE, dest, sendtag, comm},
                          {buf, count, datatype, source, recvtag, comm}, status);
}
MARGAY_ALIAS(Sendrecv_replace)
