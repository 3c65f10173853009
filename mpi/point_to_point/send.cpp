// MPI_Send and its modes: blocking, nonblocking and persistent (MPI 4.0, chapter 3.4, 3.7 and 3.9).
#include "mpi/call/binding.hpp"
#include "mpi/point_to_point/send_call.hpp"

using namespace margay::mpi;

// The bindings of one mode: MPI_Send, MPI_Isend and MPI_Send_init, each with its twin for large counts. The walk of
// README.md begins here.
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
