// Dynamic windows: memory attached and detached while the window lives, addressed by what its owner told.
// ranks: 1 2 3
// reference: 2
// wires: shm uring
#include "windows.h"

enum { kInts = 5000 };

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size(), to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int round = 0; round < 3; ++round) {
    int* memory[2];
    MPI_Aint places[2], theirs[2];
    for (int i = 0; i < 2; ++i) {
      memory[i] = calloc(kInts, sizeof(int));
      MPI_Win_attach(win, memory[i], kInts * (MPI_Aint)sizeof(int));
      MPI_Get_address(memory[i], &places[i]);
    }
    MPI_Sendrecv(places, 2, MPI_AINT, from, 1, theirs, 2, MPI_AINT, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int out[kInts], in[kInts], old = -1;
    for (int i = 0; i < kInts; ++i) out[i] = rank * 10000 + i + round;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    MPI_Put(out, kInts, MPI_INT, to, theirs[0], kInts, MPI_INT, win);
    MPI_Put(out, 10, MPI_INT, to, theirs[1] + 40, 10, MPI_INT, win);
    MPI_Win_flush(to, win);
    MPI_Fetch_and_op(out, &old, MPI_INT, to, theirs[1], MPI_SUM, win);
    MPI_Get(in, kInts, MPI_INT, to, theirs[0], kInts, MPI_INT, win);
    MPI_Win_unlock(to, win);
    CHECK(old == 0 && memcmp(in, out, sizeof in) == 0, "round %d: fetched %d, or read other ints than were written",
          round, old);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(memory[1][10] == from * 10000 + round && memory[1][0] == memory[1][10], "round %d: %d and %d", round,
          memory[1][10], memory[1][0]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; ++i) {
      MPI_Win_detach(win, memory[i]);
      free(memory[i]);
    }
  }
  MPI_Win_free(&win);
  return suite_end("rma_dynamic");
}
