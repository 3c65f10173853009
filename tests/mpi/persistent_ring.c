// A test of more persistent collectives than the range of their numbers, created and freed one after the other, while
// an older one remains. All of them return the right results.
// ranks: 2
// reference: none, MPICH has no such numbers
// sanitized: none, it takes too long
// wires: shm
#include "check.h"

enum { kMade = (1 << 20) + 200, kStartedEach = 100000, kStartedAtEnd = 300 };

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size(), ranks = size * (size - 1) / 2;
  int given[2] = {0, 0}, sums[2] = {-1, -1};
  MPI_Request lives, other;
  MPI_Allreduce_init(&given[0], &sums[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &lives);
  for (int i = 0; i < kMade; ++i) {
    MPI_Allreduce_init(&given[1], &sums[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &other);
    if (i % kStartedEach == 0 || i >= kMade - kStartedAtEnd) {
      given[0] = rank + i % 1000;
      given[1] = 7 * rank + i % 1001;
      MPI_Start(rank % 2 == 0 ? &lives : &other);
      MPI_Start(rank % 2 == 0 ? &other : &lives);
      MPI_Wait(&lives, MPI_STATUS_IGNORE);
      MPI_Wait(&other, MPI_STATUS_IGNORE);
      CHECK(sums[0] == ranks + size * (i % 1000), "the one that lives came to %d beside number %d", sums[0], i);
      CHECK(sums[1] == 7 * ranks + size * (i % 1001), "number %d came to %d", i, sums[1]);
    }
    MPI_Request_free(&other);
  }
  MPI_Request_free(&lives);
  return suite_end("persistent_ring");
}
