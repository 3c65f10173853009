// MPI_Send and its modes, blocking and nonblocking (MPI 4.0, chapter 3.4 and 3.7).
#include "mpi/call/binding.hpp"
#include "mpi/point_to_point/send_call.hpp"

using namespace margay::mpi;

// The walk of README.md begins here.
extern "C" int PMPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return blocking_send(call_name<"MPI_Send">, SendMode::standard, {buf, count, datatype, dest, tag, comm});
}
MARGAY_ALIAS(Send)

extern "C" int PMPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return blocking_send(call_name<"MPI_Send_c">, SendMode::standard, {buf, count, datatype, dest, tag, comm});
}
MARGAY_ALIAS(Send_c)

extern "C" int PMPI_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return blocking_send(call_name<"MPI_Ssend">, SendMode::synchronous, {buf, count, datatype, dest, tag, comm});
}
MARGAY_ALIAS(Ssend)

extern "C" int PMPI_Ssend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return blocking_send(call_name<"MPI_Ssend_c">, SendMode::synchronous, {buf, count, datatype, dest, tag, comm});
}
MARGAY_ALIAS(Ssend_c)

extern "C" int PMPI_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return blocking_send(call_name<"MPI_Rsend">, SendMode::ready, {buf, count, datatype, dest, tag, comm});
}
MARGAY_ALIAS(Rsend)

extern "C" int PMPI_Rsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return blocking_send(call_name<"MPI_Rsend_c">, SendMode::ready, {buf, count, datatype, dest, tag, comm});
}
MARGAY_ALIAS(Rsend_c)

extern "C" int PMPI_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  return nonblocking_send(call_name<"MPI_Isend">, SendMode::standard, {buf, count, datatype, dest, tag, comm}, request);
}
MARGAY_ALIAS(Isend)

extern "C" int PMPI_Isend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                            MPI_Request* request) {
  return nonblocking_send(call_name<"MPI_Isend_c">, SendMode::standard, {buf, count, datatype, dest, tag, comm},
                          request);
}
MARGAY_ALIAS(Isend_c)

extern "C" int PMPI_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                           MPI_Request* request) {
  return nonblocking_send(call_name<"MPI_Issend">, SendMode::synchronous, {buf, count, datatype, dest, tag, comm},
                          request);
}
MARGAY_ALIAS(Issend)

extern "C" int PMPI_Issend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                             MPI_Request* request) {
  return nonblocking_send(call_name<"MPI_Issend_c">, SendMode::synchronous, {buf, count, datatype, dest, tag, comm},
                          request);
}
MARGAY_ALIAS(Issend_c)

extern "C" int PMPI_Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                           MPI_Request* request) {
  return nonblocking_send(call_name<"MPI_Irsend">, SendMode::ready, {buf, count, datatype, dest, tag, comm}, request);
}
MARGAY_ALIAS(Irsend)

extern "C" int PMPI_Irsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                             MPI_Request* request) {
  return nonblocking_send(call_name<"MPI_Irsend_c">, SendMode::ready, {buf, count, datatype, dest, tag, comm}, request);
}
MARGAY_ALIAS(Irsend_c)
