// A program in which each rank sends an integer to each other one.
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, from;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int distance = 1; distance < size; ++distance) {
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + distance) % size, 0, &from, 1, MPI_INT, (rank + size - distance) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return MPI_Finalize();
}
