// One-sided communication between two ranks: rank 0 is the origin, rank 1 the target, which computes nothing and waits
// in MPI_Barrier, or takes its part in what both synchronise by.
//   windows [--mode KIND_OPERATION] [--sizes BYTES,...] [--seconds S]
// KIND: allocated, created. OPERATION: put, get, accumulate, fetch_and_op, compare_and_swap (each with the flush that
// completes it), put_stream, get_stream (64 of them, then a flush), fence (with a put of 8 bytes), groups (post, start,
// a put, complete, wait), lock (exclusive, a put, unlock), flush (of nothing). Lines: "KIND_OPERATION BYTES VALUE us",
// of a stream MB/s.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_common.h"

enum { kStream = 64 };

struct Work {
  MPI_Win win;
  MPI_Group peer;
  int rank;
  int bytes;
  long* mine;    // what is put, and where what is got goes
  long* memory;  // the window's, here
};

static double put(void* state, long count) {
  struct Work* w = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    MPI_Put(w->mine, w->bytes, MPI_BYTE, 1, 0, w->bytes, MPI_BYTE, w->win);
    MPI_Win_flush(1, w->win);
  }
  return now_s() - start;
}
static double get(void* state, long count) {
  struct Work* w = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    MPI_Get(w->mine, w->bytes, MPI_BYTE, 1, 0, w->bytes, MPI_BYTE, w->win);
    MPI_Win_flush(1, w->win);
  }
  return now_s() - start;
}
static double accumulate(void* state, long count) {
  struct Work* w = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    MPI_Accumulate(w->mine, w->bytes / 8, MPI_LONG, 1, 0, w->bytes / 8, MPI_LONG, MPI_SUM, w->win);
    MPI_Win_flush(1, w->win);
  }
  return now_s() - start;
}
static double fetch_and_op(void* state, long count) {
  struct Work* w = state;
  long old = 0;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    MPI_Fetch_and_op(w->mine, &old, MPI_LONG, 1, 0, MPI_SUM, w->win);
    MPI_Win_flush(1, w->win);
  }
  return now_s() - start;
}
static double compare_and_swap(void* state, long count) {
  struct Work* w = state;
  long old = 0;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    MPI_Compare_and_swap(w->mine, &old, &old, MPI_LONG, 1, 0, w->win);
    MPI_Win_flush(1, w->win);
  }
  return now_s() - start;
}
static double put_stream(void* state, long count) {
  struct Work* w = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    for (int k = 0; k < kStream; k++) MPI_Put(w->mine, w->bytes, MPI_BYTE, 1, 0, w->bytes, MPI_BYTE, w->win);
    MPI_Win_flush(1, w->win);
  }
  return now_s() - start;
}
static double get_stream(void* state, long count) {
  struct Work* w = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    for (int k = 0; k < kStream; k++) MPI_Get(w->mine, w->bytes, MPI_BYTE, 1, 0, w->bytes, MPI_BYTE, w->win);
    MPI_Win_flush(1, w->win);
  }
  return now_s() - start;
}
static double flush(void* state, long count) {
  struct Work* w = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) MPI_Win_flush(1, w->win);
  return now_s() - start;
}
static double lock(void* state, long count) {
  struct Work* w = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win);
    MPI_Put(w->mine, w->bytes, MPI_BYTE, 1, 0, w->bytes, MPI_BYTE, w->win);
    MPI_Win_unlock(1, w->win);
  }
  return now_s() - start;
}
// Both ranks take part in these two.
static double fence(void* state, long count) {
  struct Work* w = state;
  const double start = now_s();
  MPI_Win_fence(0, w->win);
  for (long i = 0; i < count; i++) {
    if (w->rank == 0) MPI_Put(w->mine, w->bytes, MPI_BYTE, 1, 0, w->bytes, MPI_BYTE, w->win);
    MPI_Win_fence(0, w->win);
  }
  return now_s() - start;
}
static double groups(void* state, long count) {
  struct Work* w = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    if (w->rank == 0) {
      MPI_Win_start(w->peer, 0, w->win);
      MPI_Put(w->mine, w->bytes, MPI_BYTE, 1, 0, w->bytes, MPI_BYTE, w->win);
      MPI_Win_complete(w->win);
    } else {
      MPI_Win_post(w->peer, 0, w->win);
      MPI_Win_wait(w->win);
    }
  }
  return now_s() - start;
}

static const struct Case {
  const char* name;
  Step step;
  int both;     // ranks take part
  int passive;  // in an epoch of MPI_Win_lock_all
  int stream;
} kCases[] = {
    {"put", put, 0, 1, 0},
    {"get", get, 0, 1, 0},
    {"accumulate", accumulate, 0, 1, 0},
    {"fetch_and_op", fetch_and_op, 0, 1, 0},
    {"compare_and_swap", compare_and_swap, 0, 1, 0},
    {"put_stream", put_stream, 0, 1, 1},
    {"get_stream", get_stream, 0, 1, 1},
    {"flush", flush, 0, 1, 0},
    {"lock", lock, 0, 0, 0},
    {"fence", fence, 1, 0, 0},
    {"groups", groups, 1, 0, 0},
};

// What was put is there, what is got is what is there.
static void check(struct Work* w, MPI_Win win) {
  const int words = w->bytes / 8;
  for (int i = 0; i < words; i++) w->mine[i] = 7 * i + 3;
  MPI_Win_fence(0, win);
  if (w->rank == 0) MPI_Put(w->mine, w->bytes, MPI_BYTE, 1, 0, w->bytes, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  for (int i = 0; w->rank == 1 && i < words; i++) {
    if (w->memory[i] != 7 * i + 3) fail("a put brought other bytes");
  }
  memset(w->mine, 0, (size_t)w->bytes);
  MPI_Win_fence(0, win);
  if (w->rank == 0) MPI_Get(w->mine, w->bytes, MPI_BYTE, 1, 0, w->bytes, MPI_BYTE, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  for (int i = 0; w->rank == 0 && i < words; i++) {
    if (w->mine[i] != 7 * i + 3) fail("a get brought other bytes");
  }
}

static void measure(const struct Case* c, const char* kind, int created, long bytes, double seconds) {
  struct Work w = {.bytes = (int)bytes, .mine = (long*)new_buffer((size_t)bytes)};
  MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
  const int other = 1 - w.rank;
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &other, &w.peer);
  if (created) {
    w.memory = (long*)new_buffer((size_t)bytes);
    MPI_Win_create(w.memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
  } else {
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.memory, &w.win);
  }
  check(&w, w.win);
  if (c->passive) MPI_Win_lock_all(0, w.win);
  double step = 0;
  if (c->both) {
    step = time_of_step(c->step, &w, seconds, agree_on);
  } else if (w.rank == 0) {
    step = time_of_step(c->step, &w, seconds, alone);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (c->passive) MPI_Win_unlock_all(w.win);
  char name[64];
  snprintf(name, sizeof name, "%s_%s", kind, c->name);
  if (w.rank == 0) {
    if (c->stream) {
      report(name, bytes, kStream * (double)bytes / step / 1e6, "MB/s");
    } else {
      report(name, bytes, step * 1e6, "us");
    }
  }
  MPI_Win_free(&w.win);
  if (created) free(w.memory);
  free(w.mine);
  MPI_Group_free(&w.peer);
  MPI_Group_free(&world);
}

int main(int argc, char** argv) {
  begin(&argc, &argv, 2);
  struct Options options = {.mode = "allocated_put", .sizes = {8}, .size_count = 1, .seconds = 0.05};
  read_options(argc, argv, &options);
  const int created = strncmp(options.mode, "created_", 8) == 0;
  const char* const operation = strchr(options.mode, '_');
  const struct Case* found = NULL;
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    if (operation != NULL && strcmp(operation + 1, kCases[i].name) == 0) found = &kCases[i];
  }
  if (found == NULL) fail("no such mode");
  for (int i = 0; i < options.size_count; i++) {
    measure(found, created ? "created" : "allocated", created, options.sizes[i], options.seconds);
  }
  MPI_Finalize();
  return 0;
}
