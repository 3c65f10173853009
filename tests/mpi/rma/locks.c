// Tests of passive targets: exclusive and shared locks, lock_all with flushes and request-based accesses, and counters
// whose sums are right only with exclusion or atomicity.
// ranks: 1 2 3 8
// reference: 2
// wires: shm uring
#include "windows.h"

enum { kRounds = 200, kSlots = 64 };

// Reads, adds and writes under an exclusive lock.
static void exclusive(struct test_window* window, const char* name) {
  const int target = world_size() - 1;
  for (int round = 0; round < kRounds; ++round) {
    int seen = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window->win);
    MPI_Get(&seen, 1, MPI_INT, target, 0, 1, MPI_INT, window->win);
    MPI_Win_flush(target, window->win);
    ++seen;
    MPI_Put(&seen, 1, MPI_INT, target, 0, 1, MPI_INT, window->win);
    MPI_Win_unlock(target, window->win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int sum = -1;
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window->win);
  MPI_Get(&sum, 1, MPI_INT, target, 0, 1, MPI_INT, window->win);
  MPI_Win_unlock(target, window->win);
  CHECK(sum == kRounds * world_size(), "%s: %d increments, expected %d", name, sum, kRounds * world_size());
  MPI_Barrier(MPI_COMM_WORLD);
}

static void all_at_once(struct test_window* window, const char* name) {
  const int size = world_size(), rank = world_rank();
  const int one = 1;
  int old = -1, last = -1, wrong = 0;
  MPI_Win_lock_all(0, window->win);
  for (int round = 0; round < kRounds; ++round) {
    for (int target = 0; target < size; ++target) {
      MPI_Fetch_and_op(&one, &old, MPI_INT, target, 1, MPI_SUM, window->win);
      MPI_Win_flush(target, window->win);
      if (target != 0) continue;
      wrong += old <= last;
      last = old;
    }
  }
  CHECK(wrong == 0, "%s: %d of the fetched numbers did not grow", name, wrong);
  MPI_Request requests[3];
  const int mine = 100 + rank;
  int theirs = -1;
  MPI_Rput(&mine, 1, MPI_INT, (rank + 1) % size, 2, 1, MPI_INT, window->win, &requests[0]);
  MPI_Raccumulate(&one, 1, MPI_INT, (rank + 1) % size, 3, 1, MPI_INT, MPI_SUM, window->win, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Win_flush_all(window->win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Rget(&theirs, 1, MPI_INT, (rank + 1) % size, 2, 1, MPI_INT, window->win, &requests[2]);
  MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
  CHECK(theirs == mine, "%s: got %d, put %d", name, theirs, mine);
  MPI_Rget_accumulate(NULL, 0, MPI_INT, &theirs, 1, MPI_INT, (rank + 1) % size, 3, 1, MPI_INT, MPI_NO_OP, window->win,
                      &requests[2]);
  MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
  CHECK(theirs == 1, "%s: accumulated %d, expected 1", name, theirs);
  MPI_Win_flush_local_all(window->win);
  MPI_Win_unlock_all(window->win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window->win);
  CHECK(window->memory[1] == kRounds * size, "%s: counted %d, expected %d", name, window->memory[1], kRounds * size);
  MPI_Win_unlock(rank, window->win);
}

// A lock implemented with compare-and-swap: the rank that changes 0 to its rank + 1 holds it.
static void swaps(struct test_window* window, const char* name) {
  const int free_word = 0, mine = world_rank() + 1;
  MPI_Win_lock_all(0, window->win);
  for (int round = 0; round < 20; ++round) {
    int found = -1, seen = -1;
    do {
      MPI_Compare_and_swap(&mine, &free_word, &found, MPI_INT, 0, 10, window->win);
      MPI_Win_flush(0, window->win);
    } while (found != 0);
    MPI_Get(&seen, 1, MPI_INT, 0, 11, 1, MPI_INT, window->win);
    MPI_Win_flush(0, window->win);
    ++seen;
    MPI_Put(&seen, 1, MPI_INT, 0, 11, 1, MPI_INT, window->win);
    MPI_Win_flush(0, window->win);
    MPI_Fetch_and_op(&free_word, &found, MPI_INT, 0, 10, MPI_REPLACE, window->win);
    MPI_Win_flush(0, window->win);
    CHECK(found == mine, "%s: the word was %d when rank %d gave it back", name, found, mine - 1);
  }
  MPI_Win_unlock_all(window->win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window->win);
    CHECK(window->memory[11] == 20 * world_size(), "%s: %d turns", name, window->memory[11]);
    MPI_Win_unlock(0, window->win);
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  for (int flavour = 0; flavour < kFlavours; ++flavour) {
    struct test_window window = open_window((enum flavour)flavour, kSlots, MPI_COMM_WORLD);
    exclusive(&window, kFlavourNames[flavour]);
    all_at_once(&window, kFlavourNames[flavour]);
    swaps(&window, kFlavourNames[flavour]);
    close_window(&window);
  }
  return suite_end("rma_locks");
}
