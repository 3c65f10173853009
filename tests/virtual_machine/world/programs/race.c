// A program whose output depends on the order of messages, on the clock, on addresses and on random numbers.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRounds = 50 };

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  void* const block = malloc(1000);
  if (rank != 0) {
    for (int i = 0; i < kRounds; ++i) {
      const int value = rand() % 100 + rank;
      MPI_Send(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    }
  } else {
    for (int i = 0; i < kRounds * (size - 1); ++i) {
      MPI_Status status;
      int value = 0;
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      printf("%d of %d, %d, at %.9f\n", status.MPI_TAG, status.MPI_SOURCE, value, MPI_Wtime());
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("block at %p\n", block);
  free(block);
  MPI_Finalize();
  return 0;
}
