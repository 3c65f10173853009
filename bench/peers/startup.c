// The smallest MPI program: start and end, timed from outside. Every rank prints a line, which proves that all of them
// ran as one job. Line of each rank: "hello SIZE RANK rank".
#include <mpi.h>

#include "common.h"

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  report("hello", size, rank, "rank");
  MPI_Finalize();
  return 0;
}
