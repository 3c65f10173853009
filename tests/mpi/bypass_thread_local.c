// A test of application bypass in a program with more thread-local data than a small stack holds: the thread that moves
// messages while the program computes has enough stack besides.
// ranks: 2
// reference: none, MPICH makes progress only inside its calls
#include "away.h"

enum { kTag = 4, kBytes = 1 << 20, kThreadLocalBytes = 1 << 20 };

static __thread volatile char thread_local_data[kThreadLocalBytes];

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  struct shared* const shared = map_shared();
  unsigned char* const body = malloc(kBytes);
  thread_local_data[kThreadLocalBytes - 1] = 1;
  if (world_rank() == 0) {
    MPI_Request request;
    MPI_Irecv(body, kBytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &request);
    signal_to(1, kTag);
    away_until(shared, 1, COMPUTING, "MPI_Ssend");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(pattern_mismatch(body, kBytes, 3) == kBytes, "wrong body");
  } else {
    pattern_fill(body, kBytes, 3);
    wait_for(0, kTag);
    MPI_Ssend(body, kBytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
    atomic_store(&shared->done, 1);
  }
  free(body);
  munmap(shared, sizeof *shared);
  return suite_end("bypass_thread_local");
}
