// The barest barriers in shared memory, without MPI: as many processes as the size says, which give their processor up
// while they wait when they are more than the processors.
//   limits_barrier --mode flags|counter [--sizes RANKS,...] [--seconds S]
// Lines: "barrier_flags RANKS VALUE us" (each has a line of its own, one process looks at all of them and then releases
// all by one more line), "barrier_counter RANKS VALUE us" (all add to one word, and who comes last releases all: no
// process must get its turn but to come).
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "common.h"

enum { kMembersMax = 256 };

struct Member {
  _Alignas(64) atomic_long came;  // of barriers
};
struct Shared {
  _Alignas(64) atomic_long released;  // of barriers
  _Alignas(64) atomic_long count;     // of all that came to the counter, ever
  struct Member members[kMembersMax];
};
struct Barrier {
  struct Shared* shared;
  int counter;
  int members;
  int yields;
  int me;
  long number;
};

static void await(const struct Barrier* b, atomic_long* line, long least) {
  while (atomic_load_explicit(line, memory_order_acquire) < least) {
    if (b->yields) sched_yield();
  }
}

static void barrier(struct Barrier* b) {
  struct Shared* shared = b->shared;
  const long number = ++b->number;
  if (b->counter) {
    const long came = atomic_fetch_add_explicit(&shared->count, 1, memory_order_acq_rel) + 1;
    if (came == number * b->members) {
      atomic_store_explicit(&shared->released, number, memory_order_release);
    } else {
      await(b, &shared->released, number);
    }
    return;
  }
  if (b->me != 0) {
    atomic_store_explicit(&shared->members[b->me].came, number, memory_order_release);
    await(b, &shared->released, number);
    return;
  }
  for (int i = 1; i < b->members; i++) await(b, &shared->members[i].came, number);
  atomic_store_explicit(&shared->released, number, memory_order_release);
}

static double barriers(void* state, long count) {
  const double start = now_s();
  for (long i = 0; i < count; i++) barrier(state);
  return now_s() - start;
}

static void work(void* state) {
  for (;;) barrier(state);
}

static void measure(const char* mode, int members, double seconds) {
  if (members < 2 || members > kMembersMax) fail("a barrier has 2 to 256 processes");
  pid_t children[kMembersMax];
  unpin();
  struct Barrier b = {.shared = new_shared(sizeof(struct Shared)), .members = members};
  b.counter = strcmp(mode, "counter") == 0;
  b.yields = members > processors();
  if (!b.yields) pin_to(0);
  for (int i = 1; i < members; i++) {
    struct Barrier mine = b;
    mine.me = i;
    children[i] = start_child(work, &mine, b.yields ? -1 : i);
  }
  char name[32];
  snprintf(name, sizeof name, "barrier_%s", mode);
  report(name, members, time_of_step(barriers, &b, seconds, alone) * 1e6, "us");
  for (int i = 1; i < members; i++) end_child(children[i]);
  munmap(b.shared, sizeof(struct Shared));
}

int main(int argc, char** argv) {
  struct Options options = {.mode = "flags", .sizes = {2}, .size_count = 1, .seconds = 0.1};
  read_options(argc, argv, &options);
  for (int i = 0; i < options.size_count; i++) measure(options.mode, (int)options.sizes[i], options.seconds);
  return 0;
}
