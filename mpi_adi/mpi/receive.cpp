// MPI_Recv, MPI_Irecv, and the combined send and receive (MPI 4.0, chapters 3.2, 3.7, 3.10).
#include <memory>

#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/own_call.hpp"
#include "mpi_adi/mpi/receive_call.hpp"
#include "mpi_adi/mpi/send_call.hpp"
#include "mpi_adi/request/send_receive.hpp"

using namespace margay::mpi_adi;

namespace {

// Both at once behind one request. `copy`: what the send reads, if it is not the program's; kept until both are over.
int start_both(Call& call, const SendArguments& send, const ReceiveArguments& receive,
               std::unique_ptr<std::byte[]> copy, MPI_Request* handle) {
  const CheckedSend out = check_send(call, SendMode::standard, send);
  call.whose("of the send");
  const CheckedReceive in = check_receive(call, receive);
  call.whose("of the receive");
  call.not_null(handle, "request");
  UserRequest* const made = call.ok() ? add_own_request(call, *in.communicator) : nullptr;
  if (!call.ok()) return call.failed();
  Device& device = call.device();
  auto* const both = new SendReceive(device, *in.communicator, std::move(copy));
  made->device = both;
  Request* const incoming = device.start_receive(in);
  Request* const outgoing = device.start_send(out);
  both->begin(*incoming, *outgoing);
  *handle = made->handle;
  return MPI_SUCCESS;
}

int start_both_replacing(Call& call, const SendArguments& send, const ReceiveArguments& receive, MPI_Request* handle) {
  const CheckedSend checked = check_send(call, SendMode::standard, send);
  call.whose("of the send");
  if (!call.ok()) return call.failed();
  TypedCopy copy(*checked.type, send.buffer, send.count);
  copy.tell(call);
  const SendArguments copied{copy.bytes(), copy.size(), MPI_BYTE, send.destination, send.tag, send.communicator};
  return start_both(call, copied, receive, copy.take(), handle);
}

}  // namespace

extern "C" int PMPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                         MPI_Status* status) {
  return blocking_receive(call_name<"MPI_Recv">, {buf, count, datatype, source, tag, comm}, status);
}
MARGAY_ALIAS(Recv)

extern "C" int PMPI_Recv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                           MPI_Status* status) {
  return blocking_receive(call_name<"MPI_Recv_c">, {buf, count, datatype, source, tag, comm}, status);
}
MARGAY_ALIAS(Recv_c)

extern "C" int PMPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  return nonblocking_receive(call_name<"MPI_Irecv">, {buf, count, datatype, source, tag, comm}, request);
}
MARGAY_ALIAS(Irecv)

extern "C" int PMPI_Irecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                            MPI_Request* request) {
  return nonblocking_receive(call_name<"MPI_Irecv_c">, {buf, count, datatype, source, tag, comm}, request);
}
MARGAY_ALIAS(Irecv_c)

extern "C" int PMPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                             MPI_Comm comm, MPI_Status* status) {
  Call call(call_name<"MPI_Sendrecv">);
  return send_and_receive(call, {sendbuf, sendcount, sendtype, dest, sendtag, comm},
                          {recvbuf, recvcount, recvtype, source, recvtag, comm}, status);
}
MARGAY_ALIAS(Sendrecv)

extern "C" int PMPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                               void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                               MPI_Comm comm, MPI_Status* status) {
  Call call(call_name<"MPI_Sendrecv_c">);
  return send_and_receive(call, {sendbuf, sendcount, sendtype, dest, sendtag, comm},
                          {recvbuf, recvcount, recvtype, source, recvtag, comm}, status);
}
MARGAY_ALIAS(Sendrecv_c)

extern "C" int PMPI_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                     int recvtag, MPI_Comm comm, MPI_Status* status) {
  Call call(call_name<"MPI_Sendrecv_replace">);
  return send_and_replace(call, {buf, count, datatype, dest, sendtag, comm},
                          {buf, count, datatype, source, recvtag, comm}, status);
}
MARGAY_ALIAS(Sendrecv_replace)

extern "C" int PMPI_Sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                                       int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  Call call(call_name<"MPI_Sendrecv_replace_c">);
  return send_and_replace(call, {buf, count, datatype, dest, sendtag, comm},
                          {buf, count, datatype, source, recvtag, comm}, status);
}
MARGAY_ALIAS(Sendrecv_replace_c)

extern "C" int PMPI_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                              void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                              MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Isendrecv">);
  return start_both(call, {sendbuf, sendcount, sendtype, dest, sendtag, comm},
                    {recvbuf, recvcount, recvtype, source, recvtag, comm}, nullptr, request);
}
MARGAY_ALIAS(Isendrecv)

extern "C" int PMPI_Isendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                                MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Isendrecv_c">);
  return start_both(call, {sendbuf, sendcount, sendtype, dest, sendtag, comm},
                    {recvbuf, recvcount, recvtype, source, recvtag, comm}, nullptr, request);
}
MARGAY_ALIAS(Isendrecv_c)

extern "C" int PMPI_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                      int recvtag, MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Isendrecv_replace">);
  return start_both_replacing(call, {buf, count, datatype, dest, sendtag, comm},
                              {buf, count, datatype, source, recvtag, comm}, request);
}
MARGAY_ALIAS(Isendrecv_replace)

extern "C" int PMPI_Isendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                                        int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Isendrecv_replace_c">);
  return start_both_replacing(call, {buf, count, datatype, dest, sendtag, comm},
                              {buf, count, datatype, source, recvtag, comm}, request);
}
MARGAY_ALIAS(Isendrecv_replace_c)
