// Each rank ends by _exit directly after MPI_Finalize.
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank = 0;
  int sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  _exit(0);
}
