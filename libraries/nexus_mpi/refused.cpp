// Point-to-point functions that the layer does not carry. Their messages match those of functions that it carries, so
// that margay's MPI cannot carry them either; the call fails with the cure. MPI_Psend_init and MPI_Precv_init match
// each other alone, and stay margay's own.
#include <string>

#include "libraries/nexus_mpi/layer.hpp"
#include "libraries/nexus_mpi/serve.hpp"

using margay::nexus_mpi::fail_on;
using margay::nexus_mpi::find;

extern "C" {

int MPI_Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  if (find(comm) == nullptr) return PMPI_Send_init(buf, count, datatype, dest, tag, comm, request);
  return fail_on(comm, "MPI_Send_init",
                 "it is not implemented over Nexus; call MPI_Isend, or run without --over nexus");
}

int MPI_Send_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  if (find(comm) == nullptr) return PMPI_Send_init_c(buf, count, datatype, dest, tag, comm, request);
  return fail_on(comm, "MPI_Send_init_c",
                 "it is not implemented over Nexus; call MPI_Isend, or run without --over nexus");
}

int MPI_Bsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  if (find(comm) == nullptr) return PMPI_Bsend_init(buf, count, datatype, dest, tag, comm, request);
  return fail_on(comm, "MPI_Bsend_init",
                 "it is not implemented over Nexus; call MPI_Ibsend, or run without --over nexus");
}

int MPI_Bsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  if (find(comm) == nullptr) return PMPI_Bsend_init_c(buf, count, datatype, dest, tag, comm, request);
  return fail_on(comm, "MPI_Bsend_init_c",
                 "it is not implemented over Nexus; call MPI_Ibsend, or run without --over nexus");
}

int MPI_Rsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  if (find(comm) == nullptr) return PMPI_Rsend_init(buf, count, datatype, dest, tag, comm, request);
  return fail_on(comm, "MPI_Rsend_init",
                 "it is not implemented over Nexus; call MPI_Irsend, or run without --over nexus");
}

int MPI_Rsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  if (find(comm) == nullptr) return PMPI_Rsend_init_c(buf, count, datatype, dest, tag, comm, request);
  return fail_on(comm, "MPI_Rsend_init_c",
                 "it is not implemented over Nexus; call MPI_Irsend, or run without --over nexus");
}

int MPI_Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  if (find(comm) == nullptr) return PMPI_Ssend_init(buf, count, datatype, dest, tag, comm, request);
  return fail_on(comm, "MPI_Ssend_init",
                 "it is not implemented over Nexus; call MPI_Issend, or run without --over nexus");
}

int MPI_Ssend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  if (find(comm) == nullptr) return PMPI_Ssend_init_c(buf, count, datatype, dest, tag, comm, request);
  return fail_on(comm, "MPI_Ssend_init_c",
                 "it is not implemented over Nexus; call MPI_Issend, or run without --over nexus");
}

int MPI_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  if (find(comm) == nullptr) return PMPI_Recv_init(buf, count, datatype, source, tag, comm, request);
  return fail_on(comm, "MPI_Recv_init",
                 "it is not implemented over Nexus; call MPI_Irecv, or run without --over nexus");
}

int MPI_Recv_init_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                    MPI_Request* request) {
  if (find(comm) == nullptr) return PMPI_Recv_init_c(buf, count, datatype, source, tag, comm, request);
  return fail_on(comm, "MPI_Recv_init_c",
                 "it is not implemented over Nexus; call MPI_Irecv, or run without --over nexus");
}

}  // extern "C"
