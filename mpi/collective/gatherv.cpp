// MPI_Gatherv and MPI_Allgatherv (MPI 4.0, 6.5 and 6.7), and those that do not block (6.12, 6.13).
#include "mpi/call/binding.hpp"
#include "mpi/collective/block_call.hpp"

using namespace margay::mpi;

MARGAY_COLLECTIVE(Gatherv, Igatherv,
                  (const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
                   const Displacement* displs, MPI_Datatype recvtype, int root, MPI_Comm comm),
                  move,
                  {Move::gather, BlockArguments::even(sendbuf, sendcount, sendtype),
                   BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), root, comm})

MARGAY_COLLECTIVE(Allgatherv, Iallgatherv,
                  (const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
                   const Displacement* displs, MPI_Datatype recvtype, MPI_Comm comm),
                  move,
                  {Move::allgather, BlockArguments::even(sendbuf, sendcount, sendtype),
                   BlockArguments::varying(recvbuf, recvcounts, displs, recvtype), 0, comm})
