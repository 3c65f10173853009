// Epochs between groups: post, start, complete, wait and test, on a ring and from many to one, again and again.
// ranks: 2 3 8
// reference: 2
// wires: shm uring
#include "windows.h"

enum { kRounds = 100 };

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

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  for (int flavour = 0; flavour < kFlavours; ++flavour) {
    struct test_window window = open_window((enum flavour)flavour, 64, MPI_COMM_WORLD);
    ring(&window, kFlavourNames[flavour]);
    many(&window, kFlavourNames[flavour]);
    close_window(&window);
  }
  return suite_end("rma_groups");
}
