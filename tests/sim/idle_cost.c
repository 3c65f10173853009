/* A program that starts, makes one barrier, and waits for a second: rank 0 outside the library, the others in it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  int token = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("hello from %d, process %d\n", rank, (int)getpid());
  fflush(stdout);
  if (argc > 1) {
    if (rank == 0) usleep((useconds_t)(atof(argv[1]) * 1e6));
    MPI_Bcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
