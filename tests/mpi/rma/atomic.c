// Tests of the atomicity of accumulates (MPI 4.0, 12.7.1): all ranks add to the same numbers as fast as they can, with
// each function, with widths for which processors have an atomic instruction and others, in created and allocated
// windows; no addition is lost, and the numbers that a rank fetches increase. ../../faults/atomic.py stops and
// continues ranks of this program.
//   atomic [rounds [seconds instead]]
//
// ranks: 1 2 3 5
// reference: 2
// wires: shm uring
#include "windows.h"

enum { kRounds = 200, kCell = 12, kCells = 6 };  // a cell is 12 ints

// The sums of one rank's updates; the total over all ranks is compared with the window's contents.
struct Done {
  long long added, swapped;
};

// Adds one by compare-and-swap, repeated until no other rank was faster.
static void swap_up(const struct test_window* window, struct Done* done) {
  long long seen = 0, found = 0, wanted = 0;
  MPI_Fetch_and_op(NULL, &seen, MPI_LONG_LONG, 0, kCell, MPI_NO_OP, window->win);
  MPI_Win_flush(0, window->win);
  for (;; seen = found) {
    wanted = seen + 1;
    MPI_Compare_and_swap(&wanted, &seen, &found, MPI_LONG_LONG, 0, kCell, window->win);
    MPI_Win_flush(0, window->win);
    if (found == seen) break;
  }
  ++done->swapped;
}

// Adds to a number of each type in separate cells; the two parts of an element of 16 bytes must increase together.
static int add(const struct test_window* window, struct Done* done, long long* last) {
  const long long one = 1;
  const short little = 1;
  const long double wide = 1;
  const double both[2] = {1, 2};
  const unsigned char byte = 1;
  double got[2] = {0, 0};
  long long ticket = -1;
  MPI_Fetch_and_op(&one, &ticket, MPI_LONG_LONG, 0, 0, MPI_SUM, window->win);
  MPI_Accumulate(&little, 1, MPI_SHORT, 0, 2 * kCell, 1, MPI_SHORT, MPI_SUM, window->win);
  MPI_Accumulate(&wide, 1, MPI_LONG_DOUBLE, 0, 3 * kCell, 1, MPI_LONG_DOUBLE, MPI_SUM, window->win);
  MPI_Get_accumulate(both, 1, MPI_C_DOUBLE_COMPLEX, got, 1, MPI_C_DOUBLE_COMPLEX, 0, 4 * kCell, 1, MPI_C_DOUBLE_COMPLEX,
                     MPI_SUM, window->win);
  MPI_Accumulate(&byte, 1, MPI_UINT8_T, 0, 5 * kCell, 1, MPI_UINT8_T, MPI_SUM, window->win);
  MPI_Win_flush(0, window->win);
  const int wrong = ticket <= *last || got[1] != 2 * got[0];
  *last = ticket;
  ++done->added;
  return wrong;
}

static void check_sums(const struct test_window* window, const char* name, const struct Done* done) {
  long long mine[2] = {done->added, done->swapped}, all[2] = {0, 0};
  MPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank() != 0) return;
  const int* const memory = window->memory;
  long long sum = 0, swaps = 0;
  short little = 0;
  long double wide = 0;
  double both[2] = {0, 0};
  unsigned char byte = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window->win);
  memcpy(&sum, memory, sizeof sum);
  memcpy(&swaps, memory + kCell, sizeof swaps);
  memcpy(&little, memory + 2 * kCell, sizeof little);
  memcpy(&wide, memory + 3 * kCell, sizeof wide);
  memcpy(both, memory + 4 * kCell, sizeof both);
  memcpy(&byte, memory + 5 * kCell, sizeof byte);
  MPI_Win_unlock(0, window->win);
  CHECK(sum == all[0], "%s: %lld added, the sum is %lld", name, all[0], sum);
  CHECK(swaps == all[1], "%s: %lld swaps, the number is %lld", name, all[1], swaps);
  CHECK(little == (short)all[0], "%s: %lld added, the short is %d", name, all[0], little);
  CHECK(wide == (long double)all[0], "%s: %lld added, the long double is %Lg", name, all[0], wide);
  CHECK(both[0] == (double)all[0] && both[1] == 2 * both[0], "%s: %lld added, the complex is %g %g", name, all[0],
        both[0], both[1]);
  CHECK(byte == (unsigned char)all[0], "%s: %lld added, the byte is %d", name, all[0], byte);
}

static void hammer(enum flavour flavour, int rounds, double seconds) {
  struct test_window window = open_window(flavour, kCell * kCells, MPI_COMM_WORLD);
  const char* const name = kFlavourNames[flavour];
  struct Done done = {0, 0};
  long long last = -1;
  int wrong = 0;
  const double end = MPI_Wtime() + seconds;
  MPI_Win_lock_all(0, window.win);
  for (int round = 0; seconds > 0 ? MPI_Wtime() < end : round < rounds; ++round) {
    wrong += add(&window, &done, &last);
    swap_up(&window, &done);
  }
  MPI_Win_unlock_all(window.win);
  CHECK(wrong == 0, "%s: %d of %lld fetched numbers are wrong", name, wrong, done.added);
  check_sums(&window, name, &done);
  close_window(&window);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : kRounds;
  const double seconds = argc > 2 ? atof(argv[2]) : 0;
  if (world_rank() == 0) {
    puts("all add");
    fflush(stdout);
  }
  for (int flavour = 0; flavour < kFlavours; ++flavour) hammer((enum flavour)flavour, rounds, seconds);
  return suite_end("rma_atomic");
}
