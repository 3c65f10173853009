// The program whose trace tests/mpi/view.py examines: messages of both protocols, early and late receives, a wildcard,
// and three collective calls, of which one runs on two communicators at once.
// ranks: 4
#include "check.h"

enum { kShort = 10, kLong = 40000, kTag = 3 };

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  static int body[kLong], other[kLong], sum[kShort];
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int round = 0; round < 60; ++round) {
    MPI_Request receive;
    MPI_Status status;
    const int count = round % 4 == 3 ? kLong : kShort;
    if (rank % 2 == 0) MPI_Send(body, count, MPI_INT, next, kTag + round, MPI_COMM_WORLD);
    MPI_Irecv(other, kLong, MPI_INT, round % 3 == 0 ? MPI_ANY_SOURCE : before, kTag + round, MPI_COMM_WORLD, &receive);
    if (rank % 2 == 1) MPI_Ssend(body, count, MPI_INT, next, kTag + round, MPI_COMM_WORLD);
    MPI_Wait(&receive, &status);
    check_status("round", &status, before, kTag + round, count * (int)sizeof(int));
  }
  MPI_Bcast(body, kShort, MPI_INT, 1, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Reduce(body, sum, kShort, MPI_INT, MPI_SUM, 0, half);
  MPI_Allreduce(body, sum, kShort, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&half);
  return suite_end("viewed");
}
