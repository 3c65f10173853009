// MPI_Scatterv (MPI 4.0, 6.6), and those that do not block (6.12, 6.13).
#include "mpi/call/binding.hpp"
#include "mpi/collective/block_call.hpp"

using namespace margay::mpi;

MARGAY_COLLECTIVE(Scatterv, Iscatterv,
                  (const void* sendbuf, const Count* sendcounts, const Displacement* displs, MPI_Datatype sendtype,
                   void* recvbuf, Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
                  move,
                  {Move::scatter, BlockArguments::varying(sendbuf, sendcounts, displs, sendtype),
                   BlockArguments::even(recvbuf, recvcount, recvtype), root, comm})
