// Tests of dynamic windows: memory is attached and detached while the window exists, at addresses that the owner has
// sent.
// ranks: 1 2 3
// reference: 2
// wires: shm uring
#include "windows.h"

enum { kInts = 5000 };

enum { kPieces = 64, kPieceInts = 8 };

static int class_of_put(MPI_Win win, int to, MPI_Aint at, const int* values, int count) {
  int class = class_of(MPI_Put(values, count, MPI_INT, to, at, count, MPI_INT, win));
  const int flushed = class_of(MPI_Win_flush(to, win));
  return class != MPI_SUCCESS ? class : flushed;
}

// Attached memory may be accessed in one call, even if it was attached in several adjacent pieces; an access that is
// partly outside of it is an error.
static void across_pieces(MPI_Win win) {
  const int rank = world_rank(), size = world_size(), to = (rank + 1) % size, from = (rank + size - 1) % size;
  const int ints = kPieces * kPieceInts;
  int* memory = calloc((size_t)ints, sizeof(int));
  MPI_Aint place, theirs;
  MPI_Get_address(memory, &place);
  for (int i = 0; i < kPieces; ++i) {
    const int piece = i * 29 % kPieces;  // in irregular order
    MPI_Win_attach(win, memory + piece * kPieceInts, kPieceInts * (MPI_Aint)sizeof(int));
  }
  MPI_Sendrecv(&place, 1, MPI_AINT, from, 1, &theirs, 1, MPI_AINT, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int out[kPieces * kPieceInts], in[kPieces * kPieceInts], old[kPieces * kPieceInts], wrong = 0;
  for (int i = 0; i < ints; ++i) out[i] = rank * 1000 + i;
  MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
  MPI_Put(out, ints, MPI_INT, to, theirs, ints, MPI_INT, win);
  MPI_Win_flush(to, win);
  MPI_Get(in, ints, MPI_INT, to, theirs, ints, MPI_INT, win);
  MPI_Win_flush(to, win);
  MPI_Get_accumulate(out, ints, MPI_INT, old, ints, MPI_INT, to, theirs, ints, MPI_INT, MPI_SUM, win);
  // From the middle of one piece to the middle of the next.
  MPI_Accumulate(out, kPieceInts, MPI_INT, to, theirs + kPieceInts / 2 * (MPI_Aint)sizeof(int), kPieceInts, MPI_INT,
                 MPI_REPLACE, win);
  MPI_Win_unlock(to, win);
  CHECK(memcmp(in, out, sizeof in) == 0 && memcmp(old, out, sizeof old) == 0, "all pieces: read other ints");
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < ints; ++i) {
    const int k = i - kPieceInts / 2, replaced = k >= 0 && k < kPieceInts;
    wrong += memory[i] != (replaced ? from * 1000 + k : 2 * (from * 1000 + i));
  }
  CHECK(wrong == 0, "all pieces: %d ints are wrong", wrong);
  MPI_Barrier(MPI_COMM_WORLD);
  // Detaches every third one.
  for (int piece = 0; piece < kPieces; piece += 3) MPI_Win_detach(win, memory + piece * kPieceInts);
  MPI_Barrier(MPI_COMM_WORLD);
  if (on_margay()) {
    const MPI_Aint second = theirs + kPieceInts * (MPI_Aint)sizeof(int);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    const int both = class_of_put(win, to, second, out, 2 * kPieceInts);
    const int beyond = class_of_put(win, to, second, out, 2 * kPieceInts + 1);
    const int before = class_of_put(win, to, second - (MPI_Aint)sizeof(int), out, 2);
    const int over_a_gap = class_of_put(win, to, second, out, 5 * kPieceInts);
    MPI_Win_unlock(to, win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
    CHECK(both == MPI_SUCCESS, "two pieces between detached ones: class %d", both);
    CHECK(beyond == MPI_ERR_RMA_RANGE && before == MPI_ERR_RMA_RANGE && over_a_gap == MPI_ERR_RMA_RANGE,
          "with detached memory: classes %d, %d, %d", beyond, before, over_a_gap);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int piece = 0; piece < kPieces; ++piece) {
    if (piece % 3 != 0) MPI_Win_detach(win, memory + piece * kPieceInts);
  }
  free(memory);
}

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
  across_pieces(win);
  MPI_Win_free(&win);
  return suite_end("rma_dynamic");
}
