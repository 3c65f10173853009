// MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw (MPI 4.0, 6.8), and their nonblocking and persistent forms (6.12,
// 6.13).
#include "mpi/call/binding.hpp"
#include "mpi/collective/block_move.hpp"

using namespace margay::mpi;

MARGAY_COLLECTIVE(Alltoall, Ialltoall,
                  (const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm),
                  move,
                  {Move::alltoall, BlockArguments::even(sendbuf, sendcount, sendtype),
                   BlockArguments::even(recvbuf, recvcount, recvtype), 0, comm})

MARGAY_COLLECTIVE(Alltoallv, Ialltoallv,
                  (const void* sendbuf, const Count* sendcounts, const Displacement* sdispls, MPI_Datatype sendtype,
                   void* recvbuf, const Count* recvcounts, const Displacement* rdispls, MPI_Datatype recvtype,
                   MPI_Comm comm),
                  move,
                  {Move::alltoall, BlockArguments::varying(sendbuf, sendcounts, sdispls, sendtype, "sdispls"),
                   BlockArguments::varying(recvbuf, recvcounts, rdispls, recvtype, "rdispls"), 0, comm})

MARGAY_COLLECTIVE(Alltoallw, Ialltoallw,
                  (const void* sendbuf, const Count* sendcounts, const Displacement* sdispls,
                   const MPI_Datatype* sendtypes, void* recvbuf, const Count* recvcounts, const Displacement* rdispls,
                   const MPI_Datatype* recvtypes, MPI_Comm comm),
                  move,
                  {Move::alltoall, BlockArguments::typed(sendbuf, sendcounts, sdispls, sendtypes, "sdispls"),
                   BlockArguments::typed(recvbuf, recvcounts, rdispls, recvtypes, "rdispls"), 0, comm})
