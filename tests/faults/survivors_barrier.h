// A final barrier of the survivors, for programs of which one rank is killed under a launcher that ends no process.
#pragma once

#include "../mpi/check.h"

enum { kBarrierTag = 31000 };

// No rank leaves before all are done, because a rank that has left is lost like a dead one. By messages, which
// survivors still get.
static void survivors_barrier(int rank, int size, int victim) {
  const int first = victim == 0 ? 1 : 0;
  if (rank != first) {
    CHECK(MPI_Send(NULL, 0, MPI_BYTE, first, kBarrierTag, MPI_COMM_WORLD) == MPI_SUCCESS, "no message to rank %d",
          first);
    // It may have left already.
    MPI_Recv(NULL, 0, MPI_BYTE, first, kBarrierTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  for (int other = 0; other < size; ++other) {
    if (other == first || other == victim) continue;
    CHECK(MPI_Recv(NULL, 0, MPI_BYTE, other, kBarrierTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS,
          "no message of rank %d", other);
  }
  for (int other = 0; other < size; ++other) {
    if (other != first && other != victim) MPI_Send(NULL, 0, MPI_BYTE, other, kBarrierTag, MPI_COMM_WORLD);
  }
}
