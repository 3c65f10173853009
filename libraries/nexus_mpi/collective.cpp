// MPI's blocking collective functions as their nonblocking forms, so that a rank in one of them serves requests:
// another rank may wait for an answer before it comes to the same call.
#include "libraries/nexus_mpi/layer.hpp"
#include "libraries/nexus_mpi/serve.hpp"

using margay::nexus_mpi::find;
using margay::nexus_mpi::serve_collective;

#define MARGAY_COLLECTIVE(NAME, NONBLOCKING, PARAMETERS, ...)                                                \
  int MPI_##NAME PARAMETERS {                                                                                \
    if (find(comm) == nullptr) return PMPI_##NAME(__VA_ARGS__);                                              \
    return serve_collective([&](MPI_Request* request) { return PMPI_##NONBLOCKING(__VA_ARGS__, request); }); \
  }

extern "C" {

MARGAY_COLLECTIVE(Barrier, Ibarrier, (MPI_Comm comm), comm)
MARGAY_COLLECTIVE(Bcast, Ibcast, (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm), buffer,
                  count, datatype, root, comm)
MARGAY_COLLECTIVE(Bcast_c, Ibcast_c, (void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm),
                  buffer, count, datatype, root, comm)
MARGAY_COLLECTIVE(Gather, Igather,
                  (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
MARGAY_COLLECTIVE(Gather_c, Igather_c,
                  (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
MARGAY_COLLECTIVE(Gatherv, Igatherv,
                  (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm)
MARGAY_COLLECTIVE(Gatherv_c, Igatherv_c,
                  (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                   MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm)
MARGAY_COLLECTIVE(Scatter, Iscatter,
                  (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
MARGAY_COLLECTIVE(Scatter_c, Iscatter_c,
                  (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, int root, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
MARGAY_COLLECTIVE(Scatterv, Iscatterv,
                  (const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                   void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
                  sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm)
MARGAY_COLLECTIVE(Scatterv_c, Iscatterv_c,
                  (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
                  sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm)
MARGAY_COLLECTIVE(Allgather, Iallgather,
                  (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
MARGAY_COLLECTIVE(Allgather_c, Iallgather_c,
                  (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
MARGAY_COLLECTIVE(Allgatherv, Iallgatherv,
                  (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
MARGAY_COLLECTIVE(Allgatherv_c, Iallgatherv_c,
                  (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
MARGAY_COLLECTIVE(Alltoall, Ialltoall,
                  (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
MARGAY_COLLECTIVE(Alltoall_c, Ialltoall_c,
                  (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
MARGAY_COLLECTIVE(Alltoallv, Ialltoallv,
                  (const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm),
                  sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
MARGAY_COLLECTIVE(Alltoallv_c, Ialltoallv_c,
                  (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                   void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                   MPI_Comm comm),
                  sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
MARGAY_COLLECTIVE(Alltoallw, Ialltoallw,
                  (const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm),
                  sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)
MARGAY_COLLECTIVE(Alltoallw_c, Ialltoallw_c,
                  (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                   const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
                  sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)
MARGAY_COLLECTIVE(Reduce, Ireduce,
                  (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                   MPI_Comm comm),
                  sendbuf, recvbuf, count, datatype, op, root, comm)
MARGAY_COLLECTIVE(Reduce_c, Ireduce_c,
                  (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                   MPI_Comm comm),
                  sendbuf, recvbuf, count, datatype, op, root, comm)
MARGAY_COLLECTIVE(Allreduce, Iallreduce,
                  (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
                  sendbuf, recvbuf, count, datatype, op, comm)
MARGAY_COLLECTIVE(Allreduce_c, Iallreduce_c,
                  (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm),
                  sendbuf, recvbuf, count, datatype, op, comm)
MARGAY_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
                  (const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
                  sendbuf, recvbuf, recvcount, datatype, op, comm)
MARGAY_COLLECTIVE(Reduce_scatter_block_c, Ireduce_scatter_block_c,
                  (const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm),
                  sendbuf, recvbuf, recvcount, datatype, op, comm)
MARGAY_COLLECTIVE(Reduce_scatter, Ireduce_scatter,
                  (const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm),
                  sendbuf, recvbuf, recvcounts, datatype, op, comm)
MARGAY_COLLECTIVE(Reduce_scatter_c, Ireduce_scatter_c,
                  (const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm),
                  sendbuf, recvbuf, recvcounts, datatype, op, comm)
MARGAY_COLLECTIVE(Scan, Iscan,
                  (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
                  sendbuf, recvbuf, count, datatype, op, comm)
MARGAY_COLLECTIVE(Scan_c, Iscan_c,
                  (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm),
                  sendbuf, recvbuf, count, datatype, op, comm)
MARGAY_COLLECTIVE(Exscan, Iexscan,
                  (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
                  sendbuf, recvbuf, count, datatype, op, comm)
MARGAY_COLLECTIVE(Exscan_c, Iexscan_c,
                  (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm),
                  sendbuf, recvbuf, count, datatype, op, comm)
MARGAY_COLLECTIVE(Neighbor_allgather, Ineighbor_allgather,
                  (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
MARGAY_COLLECTIVE(Neighbor_allgather_c, Ineighbor_allgather_c,
                  (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
MARGAY_COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv,
                  (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
MARGAY_COLLECTIVE(Neighbor_allgatherv_c, Ineighbor_allgatherv_c,
                  (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
MARGAY_COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall,
                  (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
MARGAY_COLLECTIVE(Neighbor_alltoall_c, Ineighbor_alltoall_c,
                  (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm),
                  sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
MARGAY_COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv,
                  (const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm),
                  sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
MARGAY_COLLECTIVE(Neighbor_alltoallv_c, Ineighbor_alltoallv_c,
                  (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
                   void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
                   MPI_Comm comm),
                  sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
MARGAY_COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw,
                  (const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                   const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                   const MPI_Datatype recvtypes[], MPI_Comm comm),
                  sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)
MARGAY_COLLECTIVE(Neighbor_alltoallw_c, Ineighbor_alltoallw_c,
                  (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                   const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
                  sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)

}  // extern "C"
