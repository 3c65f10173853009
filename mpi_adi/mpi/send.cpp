// MPI_Send and its modes, blocking and nonblocking (MPI 4.0, chapter 3.4 and 3.7).
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/send_call.hpp"

using namespace margay::mpi_adi;

// The way of a message begins here: mpi_adi/mpi/send_call -> mpi_adi/device -> mpi_adi/protocol/select.
extern "C" int PMPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  Call call(call_name<"MPI_Send">);
  return blocking_send(call, SendMode::standard, {buf, count, datatype, dest, tag, comm});
}
MARGAY_ALIAS(Send)

extern "C" int PMPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  Call call(call_name<"MPI_Send_c">);
  return blocking_send(call, SendMode::standard, {buf, count, datatype, dest, tag, comm});
}
MARGAY_ALIAS(Send_c)

extern "C" int PMPI_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  Call call(call_name<"MPI_Ssend">);
  return blocking_send(call, SendMode::synchronous, {buf, count, datatype, dest, tag, comm});
}
MARGAY_ALIAS(Ssend)

extern "C" int PMPI_Ssend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  Call call(call_name<"MPI_Ssend_c">);
  return blocking_send(call, SendMode::synchronous, {buf, count, datatype, dest, tag, comm});
}
MARGAY_ALIAS(Ssend_c)

extern "C" int PMPI_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  Call call(call_name<"MPI_Rsend">);
  return blocking_send(call, SendMode::ready, {buf, count, datatype, dest, tag, comm});
}
MARGAY_ALIAS(Rsend)

extern "C" int PMPI_Rsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  Call call(call_name<"MPI_Rsend_c">);
  return blocking_send(call, SendMode::ready, {buf, count, datatype, dest, tag, comm});
}
MARGAY_ALIAS(Rsend_c)

extern "C" int PMPI_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  Call call(call_name<"MPI_Isend">);
  return nonblocking_send(call, SendMode::standard, {buf, count, datatype, dest, tag, comm}, request);
}
MARGAY_ALIAS(Isend)

extern "C" int PMPI_Isend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                            MPI_Request* request) {
  Call call(call_name<"MPI_Isend_c">);
  return nonblocking_send(call, SendMode::standard, {buf, count, datatype, dest, tag, comm}, request);
}
MARGAY_ALIAS(Isend_c)

extern "C" int PMPI_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                           MPI_Request* request) {
  Call call(call_name<"MPI_Issend">);
  return nonblocking_send(call, SendMode::synchronous, {buf, count, datatype, dest, tag, comm}, request);
}
MARGAY_ALIAS(Issend)

extern "C" int PMPI_Issend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                             MPI_Request* request) {
  Call call(call_name<"MPI_Issend_c">);
  return nonblocking_send(call, SendMode::synchronous, {buf, count, datatype, dest, tag, comm}, request);
}
MARGAY_ALIAS(Issend_c)

extern "C" int PMPI_Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                           MPI_Request* request) {
  Call call(call_name<"MPI_Irsend">);
  return nonblocking_send(call, SendMode::ready, {buf, count, datatype, dest, tag, comm}, request);
}
MARGAY_ALIAS(Irsend)

extern "C" int PMPI_Irsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                             MPI_Request* request) {
  Call call(call_name<"MPI_Irsend_c">);
  return nonblocking_send(call, SendMode::ready, {buf, count, datatype, dest, tag, comm}, request);
}
MARGAY_ALIAS(Irsend_c)
