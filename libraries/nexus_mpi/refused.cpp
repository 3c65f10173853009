// Point-to-point functions that the layer does not carry. Their messages match those of functions that it carries, so
// that margay's MPI cannot carry them either; the call fails with the cure. MPI_Psend_init and MPI_Precv_init match
// each other alone, and stay margay's own.
#include <string>

#include "libraries/nexus_mpi/layer.hpp"
#include "libraries/nexus_mpi/serve.hpp"

using margay::nexus_mpi::fail_on;
using margay::nexus_mpi::find;

#define MARGAY_REFUSED(NAME, CURE, PARAMETERS, ...)                                                       \
  int MPI_##NAME PARAMETERS {                                                                             \
    if (find(comm) == nullptr) return PMPI_##NAME(__VA_ARGS__);                                           \
    return fail_on(comm, "MPI_" #NAME, "Nexus does not carry it; " CURE ", or run without --over nexus"); \
  }

extern "C" {

MARGAY_REFUSED(Send_init, "call MPI_Isend",
               (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request),
               buf, count, datatype, dest, tag, comm, request)
MARGAY_REFUSED(Send_init_c, "call MPI_Isend",
               (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request),
               buf, count, datatype, dest, tag, comm, request)
MARGAY_REFUSED(Bsend_init, "call MPI_Ibsend",
               (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request),
               buf, count, datatype, dest, tag, comm, request)
MARGAY_REFUSED(Bsend_init_c, "call MPI_Ibsend",
               (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request),
               buf, count, datatype, dest, tag, comm, request)
MARGAY_REFUSED(Rsend_init, "call MPI_Irsend",
               (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request),
               buf, count, datatype, dest, tag, comm, request)
MARGAY_REFUSED(Rsend_init_c, "call MPI_Irsend",
               (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request),
               buf, count, datatype, dest, tag, comm, request)
MARGAY_REFUSED(Ssend_init, "call MPI_Issend",
               (const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request),
               buf, count, datatype, dest, tag, comm, request)
MARGAY_REFUSED(Ssend_init_c, "call MPI_Issend",
               (const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request),
               buf, count, datatype, dest, tag, comm, request)
MARGAY_REFUSED(Recv_init, "call MPI_Irecv",
               (void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request),
               buf, count, datatype, source, tag, comm, request)
MARGAY_REFUSED(Recv_init_c, "call MPI_Irecv",
               (void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                MPI_Request* request),
               buf, count, datatype, source, tag, comm, request)
MARGAY_REFUSED(Isendrecv, "call MPI_Irecv and MPI_Isend",
               (const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request* request),
               sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm,
               request)
MARGAY_REFUSED(Isendrecv_c, "call MPI_Irecv and MPI_Isend",
               (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                MPI_Request* request),
               sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm,
               request)
MARGAY_REFUSED(Isendrecv_replace, "call MPI_Sendrecv_replace",
               (void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                MPI_Comm comm, MPI_Request* request),
               buf, count, datatype, dest, sendtag, source, recvtag, comm, request)
MARGAY_REFUSED(Isendrecv_replace_c, "call MPI_Sendrecv_replace",
               (void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                MPI_Comm comm, MPI_Request* request),
               buf, count, datatype, dest, sendtag, source, recvtag, comm, request)

}  // extern "C"
