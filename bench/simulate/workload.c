// A program for simulators of MPI: workload allreduce N | halo N | alltoall N | start
//   allreduce  N allreduces of 8 bytes
//   halo       N steps on a periodic grid of two dimensions: 1 KiB to and from each of four neighbours
//   alltoall   N all-to-alls with 64 bytes for each pair
//   start      MPI_Init and MPI_Finalize
// Prints the simulated time of the calls, except for start.
// Verifies all data. It has no global variables, so that a simulator need not privatize them.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBlock = 1024, kPair = 64, kNeighbors = 4 };

static void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "workload: wrong result of %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void allreduce(int rank, int size, int calls) {
  for (int call = 0; call < calls; ++call) {
    double sum = 0, own = rank + call;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    require(sum == (double)size * (size - 1) / 2 + (double)size * call, "allreduce");
  }
}

static void halo(int rank, int size, int steps) {
  int extents[2] = {0, 0}, periods[2] = {1, 1}, neighbors[kNeighbors];
  char sent[kNeighbors][kBlock], received[kNeighbors][kBlock];
  MPI_Comm grid;
  MPI_Dims_create(size, 2, extents);
  MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 0, &grid);
  MPI_Cart_shift(grid, 0, 1, &neighbors[0], &neighbors[1]);
  MPI_Cart_shift(grid, 1, 1, &neighbors[2], &neighbors[3]);
  for (int step = 0; step < steps; ++step) {
    MPI_Request requests[2 * kNeighbors];
    for (int i = 0; i < kNeighbors; ++i) MPI_Irecv(received[i], kBlock, MPI_CHAR, neighbors[i], i, grid, &requests[i]);
    for (int i = 0; i < kNeighbors; ++i) {
      memset(sent[i], (rank + step) % 128, kBlock);
      // The message to one side is received from the other.
      MPI_Isend(sent[i], kBlock, MPI_CHAR, neighbors[i], i ^ 1, grid, &requests[kNeighbors + i]);
    }
    MPI_Waitall(2 * kNeighbors, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < kNeighbors; ++i)
      require(received[i][0] == (neighbors[i] + step) % 128 && received[i][kBlock - 1] == received[i][0], "halo");
  }
  MPI_Comm_free(&grid);
}

static void alltoall(int rank, int size, int calls) {
  char* const sent = malloc((size_t)size * kPair);
  char* const received = malloc((size_t)size * kPair);
  for (int call = 0; call < calls; ++call) {
    for (int to = 0; to < size; ++to) memset(sent + (size_t)to * kPair, (rank + to + call) % 128, kPair);
    MPI_Alltoall(sent, kPair, MPI_CHAR, received, kPair, MPI_CHAR, MPI_COMM_WORLD);
    for (int from = 0; from < size; ++from)
      require(received[(size_t)from * kPair + kPair - 1] == (rank + from + call) % 128, "alltoall");
  }
  free(sent);
  free(received);
}

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const what = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? atoi(argv[2]) : 1;
  const double began = MPI_Wtime();
  if (strcmp(what, "allreduce") == 0) {
    allreduce(rank, size, count);
  } else if (strcmp(what, "halo") == 0) {
    halo(rank, size, count);
  } else if (strcmp(what, "alltoall") == 0) {
    alltoall(rank, size, count);
  } else {
    require(strcmp(what, "start") == 0, "the choice of a workload");
  }
  if (rank == 0 && strcmp(what, "start") != 0) printf("simulated %.9f s\n", MPI_Wtime() - began);
  MPI_Finalize();
  return 0;
}
