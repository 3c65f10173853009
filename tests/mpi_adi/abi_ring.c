/* A program in which each rank sends its number to the next one and prints the received one. Valid C and C++. */
#include <mpi.h>
#include <stdio.h>

#ifndef WORD
#define WORD ""
#endif

int main(int argc, char** argv) {
  int rank, size, got = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, &got, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  printf("rank %d of %d got %d %s\n", rank, size, got, WORD);
  MPI_Finalize();
  return got == (rank + size - 1) % size ? 0 : 1;
}
