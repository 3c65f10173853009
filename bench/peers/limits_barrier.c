// A benchmark of minimal barriers and sums of 8 bytes in shared memory, without MPI: as many processes as the size;
// they yield their processor while they wait if there are more of them than processors.
//   limits_barrier --mode barrier_flags|barrier_counter|allreduce_flags|allreduce_counter [--sizes RANKS,...]
//   [--seconds S]
// Lines: "MODE RANKS VALUE us". flags: each process has its own line, one process polls all of them and then releases
// all by one more line. counter: all add to one word, and the last one to arrive releases all, so a process that only
// waits needs no turn. allreduce: the numbers are beside the flags, or are added to a word beside the counter, and the
// sum is beside the release.
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "common.h"

enum { kMembersMax = 256 };

struct Member {
  _Alignas(64) atomic_long came;  // number of barriers entered
  long number;                    // its summand; published by `came`
};
struct Shared {
  _Alignas(64) atomic_long released;  // number of barriers released
  long sum;                           // published by `released`
  _Alignas(64) atomic_long count;     // all arrivals at the counter since the start
  atomic_long added;                  // the summands of the arrivals at this barrier; published by `count`
  struct Member members[kMembersMax];
};
struct Barrier {
  struct Shared* shared;
  int counter, sums;
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

static void release(struct Shared* shared, long number, long sum) {
  shared->sum = sum;
  atomic_store_explicit(&shared->released, number, memory_order_release);
}

static void by_counter(struct Barrier* b, long mine) {
  struct Shared* shared = b->shared;
  if (b->sums) atomic_fetch_add_explicit(&shared->added, mine, memory_order_relaxed);
  const long came = atomic_fetch_add_explicit(&shared->count, 1, memory_order_acq_rel) + 1;
  if (came != b->number * b->members) {
    await(b, &shared->released, b->number);
    return;
  }
  const long sum = b->sums ? atomic_exchange_explicit(&shared->added, 0, memory_order_relaxed) : 0;
  release(shared, b->number, sum);
}

static void by_flags(struct Barrier* b, long mine) {
  struct Shared* shared = b->shared;
  if (b->me != 0) {
    shared->members[b->me].number = mine;
    atomic_store_explicit(&shared->members[b->me].came, b->number, memory_order_release);
    await(b, &shared->released, b->number);
    return;
  }
  long sum = mine;
  for (int i = 1; i < b->members; i++) {
    await(b, &shared->members[i].came, b->number);
    if (b->sums) sum += shared->members[i].number;
  }
  release(shared, b->number, sum);
}

static void barrier(struct Barrier* b) {
  const long number = ++b->number, members = b->members, mine = b->me + number;
  if (b->counter) {
    by_counter(b, mine);
  } else {
    by_flags(b, mine);
  }
  if (b->sums && b->shared->sum != members * (members - 1) / 2 + members * number) fail("a sum was wrong");
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
  b.counter = strstr(mode, "counter") != NULL;
  b.sums = strncmp(mode, "allreduce", 9) == 0;
  b.yields = members > processors();
  if (!b.yields) pin_to(0);
  for (int i = 1; i < members; i++) {
    struct Barrier mine = b;
    mine.me = i;
    children[i] = start_child(work, &mine, b.yields ? -1 : i);
  }
  report(mode, members, time_of_step(barriers, &b, seconds, alone) * 1e6, "us");
  for (int i = 1; i < members; i++) end_child(children[i]);
  munmap(b.shared, sizeof(struct Shared));
}

int main(int argc, char** argv) {
  struct Options options = {.mode = "barrier_flags", .sizes = {2}, .size_count = 1, .seconds = 0.1};
  read_options(argc, argv, &options);
  for (int i = 0; i < options.size_count; i++) measure(options.mode, (int)options.sizes[i], options.seconds);
  return 0;
}
