// Rank 0 sends many messages to rank 1, and when all are received one that is never received; then rank 1 is killed.
// Two ranks; a trace of a few hundred events has lost the beginning and has the end.
#include <mpi.h>
#include <signal.h>

enum { kMany = 300, kManyTag = 1, kNobodysTag = 2, kLastTag = 3 };

int main(int argc, char** argv) {
  int rank = 0, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    for (int i = 0; i < kMany; ++i) MPI_Send(&value, 1, MPI_INT, 1, kManyTag, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, 1, kManyTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 1, kNobodysTag, MPI_COMM_WORLD);
    MPI_Send(&value, 1, MPI_INT, 1, kLastTag, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, 1, kLastTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    for (int i = 0; i < kMany; ++i) MPI_Recv(&value, 1, MPI_INT, 0, kManyTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 0, kManyTag, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, 0, kLastTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    raise(SIGKILL);
  }
  MPI_Finalize();
  return 0;
}
