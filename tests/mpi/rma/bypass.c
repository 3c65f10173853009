// A test of passive targets that make no calls: the target polls its memory, and calls no function of MPI until the
// origin's last access has arrived. All accesses, locks and flushes of the origin complete meanwhile.
//
// ranks: 2 3
// reference: none, MPICH's target has to call MPI
#include "windows.h"

enum { kInts = 30000, kRounds = 20 };

static void origin(MPI_Win win, int round) {
  int* ints = malloc(kInts * sizeof(int));
  int one = 1, old = -1, two = -1;
  MPI_Datatype thirds;
  MPI_Type_vector(100, 1, 3, MPI_INT, &thirds);
  MPI_Type_commit(&thirds);
  for (int i = 0; i < kInts; ++i) ints[i] = round * 31 + i;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Put(ints, kInts, MPI_INT, 0, 10, kInts, MPI_INT, win);
  MPI_Win_flush(0, win);
  MPI_Put(ints, 100, MPI_INT, 0, 10, 1, thirds, win);
  MPI_Win_flush(0, win);
  MPI_Get(&two, 1, MPI_INT, 0, 13, 1, MPI_INT, win);
  MPI_Win_flush(0, win);
  CHECK(two == round * 31 + 1, "round %d: got %d", round, two);
  MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 1, MPI_SUM, win);
  MPI_Win_unlock(0, win);
  CHECK(old == round, "round %d: fetched %d", round, old);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_unlock(0, win);
  MPI_Type_free(&thirds);
  free(ints);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  for (int flavour = 0; flavour < kFlavours; ++flavour) {
    struct test_window window = open_window((enum flavour)flavour, kInts + 10, MPI_COMM_WORLD);
    for (int round = 0; round < kRounds; ++round) {
      if (world_rank() == 0) {
        while (__atomic_load_n(&window.memory[0], __ATOMIC_ACQUIRE) == round) continue;
        CHECK(
            window.memory[1] == round + 1 && window.memory[13] == round * 31 + 1 && window.memory[11] == round * 31 + 1,
            "%s, round %d: %d, %d, %d", kFlavourNames[flavour], round, window.memory[1], window.memory[13],
            window.memory[11]);
      } else if (world_rank() == 1) {
        origin(window.win, round);
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
    close_window(&window);
  }
  return suite_end("rma_bypass");
}
