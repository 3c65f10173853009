// The program whose trace ../exports.py exports: short and long messages, expected and unexpected, to the rank itself
// too, and collective calls.
#include <mpi.h>
#include <stdlib.h>

enum { kShort = 10, kLong = 40000, kRounds = 5, kShortRounds = 120, kTag = 7, kLongTag = 8, kOwnTag = 9 };

static int rank, size;
static double *out, *in;

static void ring(int count, int tag) {
  MPI_Request requests[2];
  MPI_Irecv(in, count, MPI_DOUBLE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, count, MPI_DOUBLE, (rank + 1) % size, tag, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  out = calloc(kLong, sizeof *out);
  in = calloc(kLong, sizeof *in);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kShortRounds; ++i) ring(kShort, kTag);
  for (int i = 0; i < kRounds; ++i) ring(kLong, kLongTag);
  MPI_Sendrecv(out, kShort, MPI_DOUBLE, rank, kOwnTag, in, kShort, MPI_DOUBLE, rank, kOwnTag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (rank == 0) {  // unexpected: the receivers begin after two collective calls
    for (int to = 1; to < size; ++to) MPI_Send(out, kShort, MPI_DOUBLE, to, kTag, MPI_COMM_WORLD);
  }
  int mine = rank, sum = 0;
  MPI_Bcast(out, kLong, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank != 0) MPI_Recv(in, kShort, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  free(out);
  free(in);
  MPI_Finalize();
  return sum == size * (size - 1) / 2 ? 0 : 1;
}
