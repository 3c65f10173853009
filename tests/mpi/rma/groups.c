// Tests of epochs between groups: post, start, complete, wait and test, on a ring and from many to one, repeatedly.
// ranks: 2 3 8
// reference: 2
// wires: shm uring
#include "windows.h"

enum { kRounds = 100, kLong = 20000 };

static MPI_Group group_of(const int* ranks, int count) {
  MPI_Group world, made;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, count, ranks, &made);
  MPI_Group_free(&world);
  return made;
}

static void ring(struct test_window* window, const char* name) {
  const int rank = world_rank(), size = world_size();
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Group origins = group_of(&from, 1), targets = group_of(&to, 1);
  for (int round = 0; round < kRounds; ++round) {
    const int out = rank * 1000 + round;
    MPI_Win_post(origins, 0, window->win);
    MPI_Win_start(targets, 0, window->win);
    MPI_Put(&out, 1, MPI_INT, to, 3, 1, MPI_INT, window->win);
    MPI_Win_complete(window->win);
    if (round % 2 == 0) {
      MPI_Win_wait(window->win);
    } else {
      int flag = 0;
      while (!flag) MPI_Win_test(window->win, &flag);
    }
    CHECK(window->memory[3] == from * 1000 + round, "%s, round %d: %d", name, round, window->memory[3]);
  }
  MPI_Group_free(&origins);
  MPI_Group_free(&targets);
}

// All others write to rank 0.
static void many(struct test_window* window, const char* name) {
  const int rank = world_rank(), size = world_size();
  const int zero = 0;
  int others[64];
  for (int i = 1; i < size; ++i) others[i - 1] = i;
  MPI_Group root = group_of(&zero, 1), rest = group_of(others, size - 1);
  for (int round = 0; round < kRounds; ++round) {
    if (rank == 0) {
      MPI_Win_post(rest, 0, window->win);
      MPI_Win_wait(window->win);
      for (int i = 1; i < size; ++i)
        CHECK(window->memory[i] == i + round, "%s, round %d: %d", name, round, window->memory[i]);
    } else {
      const int out = rank + round;
      MPI_Win_start(root, 0, window->win);
      MPI_Put(&out, 1, MPI_INT, 0, rank, 1, MPI_INT, window->win);
      MPI_Win_complete(window->win);
    }
  }
  MPI_Group_free(&root);
  MPI_Group_free(&rest);
}

// Many long accumulates, and pieces of a put, have arrived when MPI_Win_wait returns, not later.
static void bursts(struct test_window* window, const char* name) {
  enum { kBursts = 5, kAccumulates = 20 };
  const int rank = world_rank(), size = world_size();
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Group origins = group_of(&from, 1), targets = group_of(&to, 1);
  MPI_Datatype seconds;
  MPI_Type_vector(kLong / 2, 1, 2, MPI_INT, &seconds);
  MPI_Type_commit(&seconds);
  int* ones = malloc(kLong * sizeof(int));
  for (int i = 0; i < kLong; ++i) ones[i] = 1;
  for (int burst = 0; burst < kBursts; ++burst) {
    memset(window->memory, 0, 2 * kLong * sizeof(int));
    MPI_Win_post(origins, 0, window->win);
    MPI_Win_start(targets, 0, window->win);
    for (int i = 0; i < kAccumulates; ++i)
      MPI_Accumulate(ones, kLong, MPI_INT, to, 0, kLong, MPI_INT, MPI_SUM, window->win);
    MPI_Put(ones, kLong / 2, MPI_INT, to, kLong, 1, seconds, window->win);
    MPI_Win_complete(window->win);
    MPI_Win_wait(window->win);
    int wrong = 0;
    for (int i = 0; i < kLong; ++i)
      wrong += window->memory[i] != kAccumulates || window->memory[kLong + i] != (i % 2 == 0);
    CHECK(wrong == 0, "%s, burst %d: %d wrong", name, burst, wrong);
  }
  free(ones);
  MPI_Type_free(&seconds);
  MPI_Group_free(&origins);
  MPI_Group_free(&targets);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  for (int flavour = 0; flavour < kFlavours; ++flavour) {
    struct test_window window = open_window((enum flavour)flavour, 2 * kLong, MPI_COMM_WORLD);
    ring(&window, kFlavourNames[flavour]);
    many(&window, kFlavourNames[flavour]);
    bursts(&window, kFlavourNames[flavour]);
    close_window(&window);
  }
  return suite_end("rma_groups");
}
