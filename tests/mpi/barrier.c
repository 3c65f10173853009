// Tests of MPI_Barrier: no rank leaves before all have entered. Many in a row, with late ranks, and on split
// communicators.
// ranks: 1 2 3 4 5 6 7 8
// reference: 3
#include "check.h"

enum { kRounds = 30, kTag = 2 };

// Each rank in turn enters late; the others must have waited for it. Requires: all ranks read the same clock.
static void late_one(int rank, int size) {
  for (int late = 0; late < size; ++late) {
    double came = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == late) {
      usleep(2000);
      came = MPI_Wtime();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double left = MPI_Wtime();
    MPI_Bcast(&came, 1, MPI_DOUBLE, late, MPI_COMM_WORLD);
    // The standard allows each process its own origin of MPI_Wtime; margay and MPICH read the host's clock.
    CHECK(left >= came, "left the barrier %g s before rank %d came", came - left, late);
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  late_one(rank, size);
  for (int i = 0; i < kRounds; ++i) MPI_Barrier(MPI_COMM_WORLD);
  // A message between two barriers, received by a request that was posted before them, disturbs neither of them.
  int in = -1;
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, kTag, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, kTag, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(in == (rank + size - 1) % size, "received %d", in);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  for (int i = 0; i < kRounds * (1 + rank % 2); ++i) MPI_Barrier(half);
  MPI_Comm_free(&half);
  MPI_Barrier(MPI_COMM_SELF);
  return suite_end("barrier");
}
