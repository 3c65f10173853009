// Rank 1 posts the given number of receives, with tags 0, 1, 2, ...; rank 0 sends to the last one first. For traces.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = argc > 1 ? atoi(argv[1]) : 40;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* values = calloc((size_t)count, sizeof *values);
  MPI_Request* requests = malloc((size_t)count * sizeof *requests);
  if (rank == 1) {
    for (int i = 0; i < count; ++i) MPI_Irecv(values + i, 1, MPI_INT, 0, i, MPI_COMM_WORLD, requests + i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = count - 1; i >= 0; --i) MPI_Send(values + i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
  }
  if (rank == 1) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  free(values);
  free(requests);
  MPI_Finalize();
  return 0;
}
