// Programs of which a simulated run on `loopback` predicts the time: predicted WHAT COUNT
//   pingpong   COUNT messages of 8 bytes there and back, between ranks 0 and 1: the time of one way
//   stream     COUNT messages of 64 KiB from rank 0 to rank 1, and an answer: the time of a message
//   allreduce_short, allreduce  COUNT allreduces of one double, or of 8 KiB of them: the time of one
// Rank 0 prints "seconds S".
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kShort = 8, kLong = 64 * 1024, kDoubles = 1024 };

static char body[kLong];

static void pass(int rank, int bytes, int first) {
  if (rank == first) MPI_Send(body, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
  if (rank == 1 - first) MPI_Recv(body, bytes, MPI_CHAR, first, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double pingpong(int rank, int count) {
  const double began = MPI_Wtime();
  for (int i = 0; i < count; ++i) {
    pass(rank, kShort, 0);
    pass(rank, kShort, 1);
  }
  return (MPI_Wtime() - began) / count / 2;
}

static double stream(int rank, int count) {
  const double began = MPI_Wtime();
  for (int i = 0; i < count; ++i) pass(rank, kLong, 0);
  pass(rank, kShort, 1);
  return (MPI_Wtime() - began) / count;
}

static double allreduce(int count, int doubles) {
  static double own[kDoubles], sum[kDoubles];
  const double began = MPI_Wtime();
  for (int i = 0; i < count; ++i) MPI_Allreduce(own, sum, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return (MPI_Wtime() - began) / count;
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const what = argc > 2 ? argv[1] : "";
  const int count = argc > 2 ? atoi(argv[2]) : 0;
  double seconds = 0;
  // The second of two runs counts, because the first one touches the memory.
  for (int run = 0; run < 2; ++run) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "pingpong") == 0)
      seconds = pingpong(rank, count);
    else if (strcmp(what, "stream") == 0)
      seconds = stream(rank, count);
    else if (strcmp(what, "allreduce_short") == 0)
      seconds = allreduce(count, 1);
    else if (strcmp(what, "allreduce") == 0)
      seconds = allreduce(count, kDoubles);
    else
      MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (rank == 0) printf("seconds %.9f\n", seconds);
  MPI_Finalize();
  return 0;
}
