// Tests of puts and gets between fences, in windows of each flavour: whole blocks of many lengths, derived datatypes on
// either side and on both, MPI_PROC_NULL, no elements, and accesses of a rank to itself.
// ranks: 1 2 3 5
// reference: 2
// wires: shm uring epoll
#include "windows.h"

enum { kInts = 70000 };

static int value(int from, int to, int index) {
  return from * 1000003 + to * 7919 + index;
}

static void blocks(struct test_window* window, const char* name) {
  static const int lengths[] = {1, 2, 15, 16, 1000, 4096, 20000};
  const int rank = world_rank(), size = world_size();
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int* mine = malloc(kInts * sizeof(int));
  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; ++l) {
    const int length = lengths[l];
    for (int i = 0; i < length; ++i) mine[i] = value(rank, to, i + length);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window->win);
    MPI_Put(mine, length, MPI_INT, to, 5, length, MPI_INT, window->win);
    MPI_Win_fence(0, window->win);
    int wrong = 0;
    for (int i = 0; i < length; ++i) wrong += window->memory[5 + i] != value(from, rank, i + length);
    CHECK(wrong == 0, "%s, put of %d: %d wrong", name, length, wrong);
    MPI_Get(mine, length, MPI_INT, from, 5, length, MPI_INT, window->win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window->win);
    const int before = (from + size - 1) % size;
    for (int i = wrong = 0; i < length; ++i) wrong += mine[i] != value(before, from, i + length);
    CHECK(wrong == 0, "%s, get of %d: %d wrong", name, length, wrong);
  }
  free(mine);
}

// Every third int at the target, every second at the origin.
static void derived(struct test_window* window, const char* name) {
  enum { kCount = 3000 };
  const int rank = world_rank(), size = world_size();
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Datatype seconds, thirds;
  MPI_Type_vector(kCount, 1, 2, MPI_INT, &seconds);
  MPI_Type_vector(kCount, 1, 3, MPI_INT, &thirds);
  MPI_Type_commit(&seconds);
  MPI_Type_commit(&thirds);
  int* mine = malloc(2 * kCount * sizeof(int));
  for (int i = 0; i < 2 * kCount; ++i) mine[i] = value(rank, to, i);
  for (int i = 0; i < kInts; ++i) window->memory[i] = -1;
  MPI_Win_fence(0, window->win);
  MPI_Put(mine, 1, seconds, to, 1, 1, thirds, window->win);
  MPI_Put(mine, kCount, MPI_INT, to, 20000, 1, thirds, window->win);
  MPI_Put(mine, 1, seconds, to, 40000, kCount, MPI_INT, window->win);
  MPI_Win_fence(0, window->win);
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) {
    wrong += window->memory[1 + 3 * i] != value(from, rank, 2 * i) || window->memory[2 + 3 * i] != -1;
    wrong += window->memory[20000 + 3 * i] != value(from, rank, i) || window->memory[20001 + 3 * i] != -1;
    wrong += window->memory[40000 + i] != value(from, rank, 2 * i);
  }
  CHECK(wrong == 0, "%s, derived puts: %d wrong", name, wrong);
  for (int i = 0; i < 2 * kCount; ++i) mine[i] = -2;
  MPI_Win_fence(0, window->win);
  MPI_Get(mine, 1, seconds, from, 1, 1, thirds, window->win);
  MPI_Win_fence(0, window->win);
  const int before = (from + size - 1) % size;
  for (int i = wrong = 0; i < kCount; ++i) {
    wrong += mine[2 * i] != value(before, from, 2 * i) || (i + 1 < kCount && mine[2 * i + 1] != -2);
  }
  CHECK(wrong == 0, "%s, derived gets: %d wrong", name, wrong);
  free(mine);
  MPI_Type_free(&seconds);
  MPI_Type_free(&thirds);
}

static void edges(struct test_window* window, const char* name) {
  const int rank = world_rank();
  int one = 17 + rank, two = 0;
  MPI_Win_fence(0, window->win);
  MPI_Put(&one, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window->win);
  MPI_Get(&two, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window->win);
  MPI_Put(&one, 0, MPI_INT, 0, 0, 0, MPI_INT, window->win);
  MPI_Put(&one, 1, MPI_INT, rank, kInts - 1, 1, MPI_INT, window->win);
  MPI_Win_fence(0, window->win);
  CHECK(two == 0, "%s, a get from MPI_PROC_NULL wrote %d", name, two);
  CHECK(window->memory[kInts - 1] == 17 + rank, "%s, put to itself: %d", name, window->memory[kInts - 1]);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  for (int flavour = 0; flavour < kFlavours; ++flavour) {
    struct test_window window = open_window((enum flavour)flavour, kInts, MPI_COMM_WORLD);
    blocks(&window, kFlavourNames[flavour]);
    derived(&window, kFlavourNames[flavour]);
    edges(&window, kFlavourNames[flavour]);
    close_window(&window);
  }
  return suite_end("rma_put_get");
}
