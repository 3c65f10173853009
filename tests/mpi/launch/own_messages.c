// Calls for which the library sends messages of its own: synchronous sends, pulled bodies, collective calls,
// communicators. For traces.
#include <mpi.h>
#include <stdlib.h>

enum { kLong = 100000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* values = calloc(kLong, sizeof *values);
  const int last = size - 1;
  MPI_Request requests[3];
  for (int round = 0; round < 4; ++round) {
    if (rank == 0) {
      MPI_Issend(values, 1, MPI_INT, last, 7, MPI_COMM_WORLD, requests);
      MPI_Issend(values, kLong, MPI_INT, last, 8, MPI_COMM_WORLD, requests + 1);
      MPI_Isend(values, kLong, MPI_INT, last, 9, MPI_COMM_WORLD, requests + 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    // The last first, so that walks pass over earlier entries.
    if (rank == last) {
      for (int tag = 9; tag >= 7; --tag) MPI_Recv(values, kLong, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0) MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Bcast(values, 100, MPI_INT, round % size, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 10, MPI_INT, values, 10, MPI_INT, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, values, 1000, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    int* all = malloc((size_t)size * 100 * sizeof *all);
    MPI_Gather(values, 100, MPI_INT, all, 100, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 100, MPI_INT, all, 100, MPI_INT, MPI_COMM_WORLD);
    free(all);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Bcast(values, kLong, MPI_INT, 0, half);
    MPI_Comm_free(&half);
  }
  free(values);
  MPI_Finalize();
  return 0;
}
