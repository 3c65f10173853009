// Windows of every flavour over the same memory of ints, for programs that test an operation on each.
#pragma once

#include "../check.h"

enum flavour { kCreated, kCreatedOverAlloc, kAllocated, kFlavours };
static const char* const kFlavourNames[kFlavours] = {"created", "created over MPI_Alloc_mem", "allocated"};

struct test_window {
  MPI_Win win;
  int* memory;
  enum flavour flavour;
};

// `count` ints of each rank of `comm`, all zero.
__attribute__((unused)) static struct test_window open_window(enum flavour flavour, int count, MPI_Comm comm) {
  struct test_window made = {MPI_WIN_NULL, NULL, flavour};
  const MPI_Aint bytes = count * (MPI_Aint)sizeof(int);
  switch (flavour) {
    case kCreated:
      made.memory = malloc((size_t)bytes + 1);
      break;
    case kCreatedOverAlloc:
      MPI_Alloc_mem(bytes + 1, MPI_INFO_NULL, &made.memory);
      break;
    default:
      MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, comm, &made.memory, &made.win);
      memset(made.memory, 0, (size_t)bytes);
      MPI_Barrier(comm);
      return made;
  }
  memset(made.memory, 0, (size_t)bytes);
  MPI_Win_create(made.memory, bytes, sizeof(int), MPI_INFO_NULL, comm, &made.win);
  return made;
}

__attribute__((unused)) static void close_window(struct test_window* window) {
  MPI_Win_free(&window->win);
  CHECK(window->win == MPI_WIN_NULL, "the handle of a freed window is 0x%x", (unsigned)window->win);
  if (window->flavour == kCreated) free(window->memory);
  if (window->flavour == kCreatedOverAlloc) MPI_Free_mem(window->memory);
}
