// MPI_Recv, MPI_Irecv, and the combined send and receive (MPI 4.0, chapters 3.2, 3.7, 3.10).
#include "mpi/call/binding.hpp"
#include "mpi/point_to_point/receive_call.hpp"

using namespace margay::mpi;

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
  return send_and_receive(call_name<"MPI_Sendrecv">, {sendbuf, sendcount, sendtype, dest, sendtag, comm},
                          {recvbuf, recvcount, recvtype, source, recvtag, comm}, status);
}
MARGAY_ALIAS(Sendrecv)

extern "C" int PMPI_Sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                               void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                               MPI_Comm comm, MPI_Status* status) {
  return send_and_receive(call_name<"MPI_Sendrecv_c">, {sendbuf, sendcount, sendtype, dest, sendtag, comm},
                          {recvbuf, recvcount, recvtype, source, recvtag, comm}, status);
}
MARGAY_ALIAS(Sendrecv_c)

extern "C" int PMPI_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                     int recvtag, MPI_Comm comm, MPI_Status* status) {
  return send_and_replace(call_name<"MPI_Sendrecv_replace">, {buf, count, datatype, dest, sendtag, comm},
                          {buf, count, datatype, source, recvtag, comm}, status);
}
MARGAY_ALIAS(Sendrecv_replace)

extern "C" int PMPI_Sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                                       int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  return send_and_replace(call_name<"MPI_Sendrecv_replace_c">, {buf, count, datatype, dest, sendtag, comm},
                          {buf, count, datatype, source, recvtag, comm}, status);
}
MARGAY_ALIAS(Sendrecv_replace_c)

extern "C" int PMPI_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                              void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                              MPI_Comm comm, MPI_Request* request) {
  return start_send_and_receive(call_name<"MPI_Isendrecv">, {sendbuf, sendcount, sendtype, dest, sendtag, comm},
                                {recvbuf, recvcount, recvtype, source, recvtag, comm}, request);
}
MARGAY_ALIAS(Isendrecv)

extern "C" int PMPI_Isendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                                MPI_Comm comm, MPI_Request* request) {
  return start_send_and_receive(call_name<"MPI_Isendrecv_c">, {sendbuf, sendcount, sendtype, dest, sendtag, comm},
                                {recvbuf, recvcount, recvtype, source, recvtag, comm}, request);
}
MARGAY_ALIAS(Isendrecv_c)

extern "C" int PMPI_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                      int recvtag, MPI_Comm comm, MPI_Request* request) {
  return start_send_and_replace(call_name<"MPI_Isendrecv_replace">, {buf, count, datatype, dest, sendtag, comm},
                                {buf, count, datatype, source, recvtag, comm}, request);
}
MARGAY_ALIAS(Isendrecv_replace)

extern "C" int PMPI_Isendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
                                        int source, int recvtag, MPI_Comm comm, MPI_Request* request) {
  return start_send_and_replace(call_name<"MPI_Isendrecv_replace_c">, {buf, count, datatype, dest, sendtag, comm},
                                {buf, count, datatype, source, recvtag, comm}, request);
}
MARGAY_ALIAS(Isendrecv_replace_c)
