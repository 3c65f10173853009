/* A message that does not match its receive, one that is never received, and a collective call with different
   arguments, on a communicator and an intercommunicator without names. Two ranks; for a trace, --check-types and
   --leaks. */
#include <mpi.h>

static int rank;

static void misfit(MPI_Comm comm, int peer, int tag) {
  int out[4] = {1, 2, 3, 4};
  float in[4];
  if (rank == 0) MPI_Send(out, 4, MPI_INT, peer, tag, comm);
  if (rank == 1) MPI_Recv(in, 4, MPI_FLOAT, peer, tag, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int in[2] = {1, 2}, out[2];
  MPI_Comm copy, self, between;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &self);
  MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, 1 - rank, 3, &between);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  misfit(copy, 1 - rank, 11);
  misfit(between, 0, 12);
  if (rank == 0) MPI_Send(in, 1, MPI_INT, 1, 13, copy);
  if (rank == 0) MPI_Send(in, 1, MPI_INT, 0, 14, between);
  MPI_Allreduce(in, out, 1 + rank, MPI_INT, MPI_SUM, copy);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&between);
  MPI_Comm_free(&self);
  MPI_Finalize();
  return 0;
}
