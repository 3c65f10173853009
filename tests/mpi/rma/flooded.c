// A test of a computing target whose heap of unexpected messages is full: later messages of a window's origin arrive
// nevertheless.
// ranks: 2
// reference: none, its origin would wait for a call of the target
// compilers: ours
// wires: shm uring
#include "../check.h"

enum { kMessages = 2000, kBytes = 1024 };

int main(int argc, char** argv) {
  setenv("MARGAY_HEAP_BYTES", "1048576", 1);
  suite_begin(&argc, &argv);
  static volatile long memory[1];
  MPI_Win win;
  MPI_Win_create((void*)memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Barrier(MPI_COMM_WORLD);
  char* bytes = calloc(kMessages, kBytes);
  if (world_rank() == 0) {
    while (memory[0] == 0) continue;
    for (int i = 0; i < kMessages; ++i) {
      MPI_Recv(bytes, kBytes, MPI_CHAR, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(bytes[0] == (char)i, "message %d brought %d", i, bytes[0]);
    }
  } else {
    MPI_Request* requests = malloc(kMessages * sizeof *requests);
    for (int i = 0; i < kMessages; ++i) {
      bytes[(size_t)i * kBytes] = (char)i;
      MPI_Isend(bytes + (size_t)i * kBytes, kBytes, MPI_CHAR, 0, i, MPI_COMM_WORLD, &requests[i]);
    }
    const long one = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
    free(requests);
  }
  free(bytes);
  MPI_Win_free(&win);
  return suite_end("rma_flooded");
}
