// A benchmark of one-sided communication between two ranks: rank 0 is the origin, rank 1 the target, which waits in
// MPI_Barrier, or takes part in the synchronisation of both.
//   windows [--mode KIND_OPERATION] [--sizes BYTES,...] [--seconds S]
// KIND: allocated, created. OPERATION: put, get, accumulate, fetch_and_op, compare_and_swap (each with the flush that
// completes it), put_stream, get_stream (64 of them, then a flush), fence (with a put of 8 bytes), groups (post, start,
// a put, complete, wait), lock (exclusive, a put, unlock), flush (of nothing), busy_put, busy_get, busy_accumulate
// (lock, the access, unlock, while the target computes for 100 ms and calls no MPI), calling_get, calling_get_worst
// (the same, while it makes local calls: the median and the worst of the rounds). Lines: "KIND_OPERATION BYTES VALUE
// us", of a stream MB/s; or "unsupported WHY" of an MPI that cannot make such a window.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_common.h"

// Windows have at least a page: with less than 64 bytes allocated, puts of MPICH 4.0.2 go elsewhere.
enum { kStream = 64, kWindowBytesMin = 4096, kComputationMs = 100, kBusyRounds = 5 };

struct Work {
  MPI_Win win;
  MPI_Group peer;
  int rank;
  int bytes;
  long* mine;    // the source of puts and the destination of gets
  long* memory;  // the window's memory on this rank
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
  const long expected = 0;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    MPI_Compare_and_swap(w->mine, &expected, &old, MPI_LONG, 1, 0, w->win);
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
static double lock_get(void* state, long count) {
  struct Work* w = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win);
    MPI_Get(w->mine, w->bytes, MPI_BYTE, 1, 0, w->bytes, MPI_BYTE, w->win);
    MPI_Win_unlock(1, w->win);
  }
  return now_s() - start;
}
static double lock_accumulate(void* state, long count) {
  struct Work* w = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win);
    MPI_Accumulate(w->mine, w->bytes / 8, MPI_LONG, 1, 0, w->bytes / 8, MPI_LONG, MPI_SUM, w->win);
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
  int both;     // both ranks take part
  int passive;  // in an epoch of MPI_Win_lock_all
  int stream;
  enum { WAITING, COMPUTING, CALLING } target;  // the target's activity
  int worst;                                    // the worst of the rounds, in place of their median
} kCases[] = {
    {"put", put, .passive = 1},
    {"get", get, .passive = 1},
    {"accumulate", accumulate, .passive = 1},
    {"fetch_and_op", fetch_and_op, .passive = 1},
    {"compare_and_swap", compare_and_swap, .passive = 1},
    {"put_stream", put_stream, .passive = 1, .stream = 1},
    {"get_stream", get_stream, .passive = 1, .stream = 1},
    {"flush", flush, .passive = 1},
    {"lock", lock},
    {"fence", fence, .both = 1},
    {"groups", groups, .both = 1},
    {"busy_put", lock, .target = COMPUTING},
    {"busy_get", lock_get, .target = COMPUTING},
    {"busy_accumulate", lock_accumulate, .target = COMPUTING},
    {"calling_get", lock_get, .target = CALLING},
    {"calling_get_worst", lock_get, .target = CALLING, .worst = 1},
};

// Checks that puts wrote the right data, and that gets read it.
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

static void compute_until(double end) {
  volatile double x = 1;
  while (now_s() < end) {
    for (int i = 0; i < 1000; i++) x = x * 1.0000001;
  }
}

// An endless loop of local calls: each takes the library's lock, none processes a message.
static void call_until(double end) {
  while (now_s() < end) {
    for (int i = 0; i < 100; i++) {
      MPI_Datatype type;
      MPI_Type_contiguous(4, MPI_INT, &type);
      MPI_Type_free(&type);
    }
  }
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// The seconds of an epoch that begins after the target has been busy for a while, and long before it stops: the median,
// or the worst.
static double time_beside_busy_target(const struct Case* c, struct Work* w) {
  double times[kBusyRounds];
  c->step(w, w->rank == 0);  // connections are opened here
  for (int i = 0; i < kBusyRounds; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (w->rank == 1) {
      (c->target == CALLING ? call_until : compute_until)(now_s() + 1e-3 * kComputationMs);
    } else {
      nap(kComputationMs / 20);
      times[i] = c->step(w, 1);
    }
  }
  if (w->rank == 0) qsort(times, kBusyRounds, sizeof times[0], compare);
  return w->rank == 0 ? times[c->worst ? kBusyRounds - 1 : kBusyRounds / 2] : 0;
}

// Rank 0's value; other ranks have none.
static double time_of(const struct Case* c, struct Work* w, double seconds) {
  if (c->target != WAITING) return time_beside_busy_target(c, w);
  if (c->both) return time_of_step(c->step, w, seconds, agree_on);
  return w->rank == 0 ? time_of_step(c->step, w, seconds, alone) : 0;
}

// Some releases create no windows over some networks: this is reported, and is no failure of the measurement.
static void end_without_windows(int error, int rank) {
  char words[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, words, &length);
  if (rank == 0) printf("unsupported %s\n", words);
  MPI_Finalize();
  exit(0);
}

static void make_window(struct Work* w, int created) {
  const MPI_Aint bytes = w->bytes < kWindowBytesMin ? kWindowBytesMin : w->bytes;
  int error = MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (created) {
    w->memory = (long*)new_buffer((size_t)bytes);
    error = MPI_Win_create(w->memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w->win);
  } else {
    error = MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w->memory, &w->win);
  }
  if (error != MPI_SUCCESS) end_without_windows(error, w->rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void measure(const struct Case* c, const char* kind, int created, long bytes, double seconds) {
  struct Work w = {.bytes = (int)bytes, .mine = (long*)new_buffer((size_t)bytes)};
  MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
  const int other = 1 - w.rank;
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &other, &w.peer);
  make_window(&w, created);
  check(&w, w.win);
  if (c->passive) MPI_Win_lock_all(0, w.win);
  const double step = time_of(c, &w, seconds);
  MPI_Barrier(MPI_COMM_WORLD);
  if (c->passive) MPI_Win_unlock_all(w.win);
  char name[64];
  snprintf(name, sizeof name, "%s_%s", kind, c->name);
  if (w.rank == 0 && c->stream) report(name, bytes, kStream * (double)bytes / step / 1e6, "MB/s");
  if (w.rank == 0 && !c->stream) report(name, bytes, step * 1e6, "us");
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
