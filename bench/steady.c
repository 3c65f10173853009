// A benchmark of two ranks over the mean of all messages of some seconds, so that a disturbance counts in proportion to
// its duration (programs of bench/peers report the median of many batches).
//   steady latency|rate SECONDS
// Lines: "begun" once both are in MPI, then "latency 8 VALUE us" (one way) or "rate 8 VALUE msg/s" (windows of 64).
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 8, kWindow = 64, kRounds = 1000 };

static char bytes[kWindow][kBytes];

static void ping_pong(int rank) {
  for (int round = 0; round < kRounds; ++round) {
    if (rank == 0) MPI_Send(bytes[0], kBytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(bytes[0], kBytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(bytes[0], kBytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
}

static void windows(int rank) {
  MPI_Request requests[kWindow];
  for (int round = 0; round < kRounds; ++round) {
    for (int at = 0; at < kWindow; ++at) {
      if (rank == 0) MPI_Isend(bytes[at], kBytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[at]);
      if (rank == 1) MPI_Irecv(bytes[at], kBytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[at]);
    }
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    if (rank == 1) MPI_Send(bytes[0], 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(bytes[0], 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  int rank, go_on = 1;
  long rounds = 0;
  double begun, spent = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int is_rate = argc > 1 && strcmp(argv[1], "rate") == 0;
  const double seconds = argc > 2 ? atof(argv[2]) : 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("begun\n");
    fflush(stdout);
  }
  begun = MPI_Wtime();
  while (go_on) {
    is_rate ? windows(rank) : ping_pong(rank);
    rounds += kRounds;
    spent = MPI_Wtime() - begun;
    go_on = spent < seconds;
    MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (rank == 0 && is_rate) printf("rate %d %.6g msg/s\n", kBytes, (double)rounds * kWindow / spent);
  if (rank == 0 && !is_rate) printf("latency %d %.6g us\n", kBytes, spent / (double)rounds / 2 * 1e6);
  MPI_Finalize();
  return 0;
}
