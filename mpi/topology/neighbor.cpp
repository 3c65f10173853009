// Neighborhood collectives (MPI 4.0, 8.6), and their nonblocking and persistent forms (8.7, 8.8).
#include "mpi/call/binding.hpp"
#include "mpi/collective/block_move.hpp"

using namespace margay::mpi;

MARGAY_COLLECTIVE(Neighbor_allgather, Ineighbor_allgather,
                  (const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm),
                  move,
                  {Move::neighbor_allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
                   BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm})

MARGAY_COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv,
                  (const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
                   const Displacement* displs, MPI_Datatype recvtype, MPI_Comm comm),
                  move,
                  {Move::neighbor_allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
                   BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm})

MARGAY_COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall,
                  (const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm),
                  move,
                  {Move::neighbor_alltoall, BlockArguments::even(sendbuf, sendcount, sendtype),
                   BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm})

MARGAY_COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv,
                  (const void* sendbuf, const Count* sendcounts, const Displacement* sdispls, MPI_Datatype sendtype,
                   void* recvbuf, const Count* recvcounts, const Displacement* rdispls, MPI_Datatype recvtype,
                   MPI_Comm comm),
                  move,
                  {Move::neighbor_alltoall, BlockArguments::varying(sendbuf, sendcounts, sdispls, sendtype, "sdispls"),
                   BlockArguments::varying(recvbuf, recvcounts, rdispls, recvtype, "rdispls"), 0, comm})

MARGAY_COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw,
                  (const void* sendbuf, const Count* sendcounts, const MPI_Aint* sdispls, const MPI_Datatype* sendtypes,
                   void* recvbuf, const Count* recvcounts, const MPI_Aint* rdispls, const MPI_Datatype* recvtypes,
                   MPI_Comm comm),
                  move,
                  {Move::neighbor_alltoall, BlockArguments::typed(sendbuf, sendcounts, sdispls, sendtypes, "sdispls"),
                   BlockArguments::typed(recvbuf, recvcounts, rdispls, recvtypes, "rdispls"), 0, comm})
