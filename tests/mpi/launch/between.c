/* Collective calls on two intercommunicators, one of which has a name: all values of the root argument, blocking and
   nonblocking, by trees and directly; and a message on one. Four ranks, two in each group. */
#include <mpi.h>

enum { kTag = 5, kCount = 3 };

int main(int argc, char** argv) {
  int rank, in[kCount] = {1, 2, 3}, out[2 * kCount] = {0};
  MPI_Comm half, bridge, plain;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int lower = rank < 2;
  MPI_Comm_split(MPI_COMM_WORLD, lower, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, lower ? 2 : 0, 1, &bridge);
  MPI_Comm_set_name(bridge, "bridge");
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, lower ? 2 : 0, 2, &plain);
  /* The roots are rank 3, the upper group's second, and rank 0, the lower group's first. */
  const int of_3 = lower ? 1 : rank == 3 ? MPI_ROOT : MPI_PROC_NULL;
  const int of_0 = !lower ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Bcast(in, kCount, MPI_INT, of_3, bridge);
  MPI_Reduce(in, out, kCount, MPI_INT, MPI_SUM, of_0, bridge);
  MPI_Gather(in, kCount, MPI_INT, out, kCount, MPI_INT, of_3, bridge);
  MPI_Ibcast(in, kCount, MPI_INT, of_0, bridge, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(plain);
  if (rank == 1) MPI_Send(in, 1, MPI_INT, 0, kTag, bridge);
  if (rank == 2) MPI_Recv(in, 1, MPI_INT, 1, kTag, bridge, MPI_STATUS_IGNORE);
  MPI_Comm_free(&bridge);
  MPI_Comm_free(&plain);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
