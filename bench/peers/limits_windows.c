// A benchmark of one-sided accesses without MPI: a process accesses the memory of another one, which is idle.
//   limits_windows [--mode WAY_OPERATION] [--sizes BYTES,...] [--seconds S]
// WAY: memory (both processes have it mapped), system (process_vm_writev, process_vm_readv). OPERATION: put, get,
// put_stream, get_stream (one after another); of memory also fetch_and_op, compare_and_swap (an atomic instruction),
// lock (one takes a lock, a put, a store gives it back). Lines: "WAY_OPERATION BYTES VALUE us", of a stream MB/s.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common.h"

struct Work {
  pid_t target;
  size_t bytes;
  char* mine;
  char* theirs;  // memory: mapped here; system: the target's, at the same address in both
  atomic_long* lock;
};

static double memory_put(void* state, long count) {
  const struct Work* w = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    memcpy(w->theirs, w->mine, w->bytes);
    __asm__ volatile("" : : "r"(w->theirs), "r"(w->mine) : "memory");  // forces each copy
  }
  return now_s() - start;
}
static double memory_get(void* state, long count) {
  const struct Work* w = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    memcpy(w->mine, w->theirs, w->bytes);
    __asm__ volatile("" : : "r"(w->theirs), "r"(w->mine) : "memory");
  }
  return now_s() - start;
}
static double memory_fetch_and_op(void* state, long count) {
  const struct Work* w = state;
  volatile long old = 0;
  const double start = now_s();
  for (long i = 0; i < count; i++) old = atomic_fetch_add((atomic_long*)w->theirs, 1);
  (void)old;
  return now_s() - start;
}
static double memory_compare_and_swap(void* state, long count) {
  const struct Work* w = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    long expected = i;
    atomic_compare_exchange_strong((atomic_long*)w->theirs, &expected, i + 1);
  }
  return now_s() - start;
}
static double memory_lock(void* state, long count) {
  const struct Work* w = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    for (long free_now = 0; !atomic_compare_exchange_weak(w->lock, &free_now, 1); free_now = 0) continue;
    memcpy(w->theirs, w->mine, w->bytes);
    atomic_store_explicit(w->lock, 0, memory_order_release);
  }
  return now_s() - start;
}

static void call(ssize_t (*copy)(pid_t, const struct iovec*, unsigned long, const struct iovec*, unsigned long,
                                 unsigned long),
                 const struct Work* w) {
  const struct iovec here = {w->mine, w->bytes}, there = {w->theirs, w->bytes};
  if (copy(w->target, &here, 1, &there, 1, 0) != (ssize_t)w->bytes) {
    fail("the system does not copy between processes");
  }
}
static double system_put(void* state, long count) {
  const double start = now_s();
  for (long i = 0; i < count; i++) call(process_vm_writev, state);
  return now_s() - start;
}
static double system_get(void* state, long count) {
  const double start = now_s();
  for (long i = 0; i < count; i++) call(process_vm_readv, state);
  return now_s() - start;
}

static const struct Case {
  const char* name;
  Step step;
  Step check;  // its counterpart: reads the result of a step that writes, or writes the data for a get
} kCases[] = {{"memory_put", memory_put, memory_get},
              {"memory_get", memory_get, memory_put},
              {"memory_fetch_and_op", memory_fetch_and_op, memory_get},
              {"memory_compare_and_swap", memory_compare_and_swap, memory_get},
              {"memory_lock", memory_lock, memory_get},
              {"system_put", system_put, system_get},
              {"system_get", system_get, system_put}};

static void idle(void* state) {
  (void)state;
  for (;;) pause();
}

// Checks a step with its counterpart: a get must return the data that a put or an atomic instruction wrote.
static void check(const struct Case* c, struct Work* w) {
  const int is_get = strstr(c->name, "get") != NULL, adds = strstr(c->name, "and") != NULL;
  Step const write = is_get ? c->check : c->step, read = is_get ? c->step : c->check;
  fill_pattern(w->mine, w->bytes, 1);
  if (adds) memset(w->theirs, 0, w->bytes);
  write(w, 1);
  memset(w->mine, 0, w->bytes);
  read(w, 1);
  if (!adds) check_pattern(w->mine, w->bytes, 1, c->name);
  if (adds && *(long*)w->mine != 1) fail("an atomic instruction left another sum");
}

static void measure(const struct Case* c, const char* mode, long size, double seconds) {
  struct Work w = {.bytes = (size_t)size, .mine = new_buffer((size_t)size), .lock = new_shared(sizeof(atomic_long))};
  const int by_system = strncmp(mode, "system", 6) == 0, streams = strstr(mode, "_stream") != NULL;
  const size_t room = w.bytes < sizeof(long) ? sizeof(long) : w.bytes;
  w.theirs = by_system ? new_buffer(room) : new_shared(room);
  w.target = start_child(idle, &w, 1);
  check(c, &w);
  const double step = time_of_step(c->step, &w, seconds, alone);
  if (streams) {
    report(mode, size, (double)size / step / 1e6, "MB/s");
  } else {
    report(mode, size, step * 1e6, "us");
  }
  end_child(w.target);
  if (by_system) {
    free(w.theirs);
  } else {
    munmap(w.theirs, room);
  }
  munmap(w.lock, sizeof(atomic_long));
  free(w.mine);
}

int main(int argc, char** argv) {
  struct Options options = {.mode = "memory_put", .sizes = {8}, .size_count = 1, .seconds = 0.1};
  read_options(argc, argv, &options);
  const char* const stream = strstr(options.mode, "_stream");
  const size_t length = stream != NULL ? (size_t)(stream - options.mode) : strlen(options.mode);
  const struct Case* found = NULL;
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    if (strlen(kCases[i].name) == length && strncmp(options.mode, kCases[i].name, length) == 0) found = &kCases[i];
  }
  if (found == NULL) fail("no such mode");
  pin_to(0);
  for (int i = 0; i < options.size_count; i++) measure(found, options.mode, options.sizes[i], options.seconds);
  return 0;
}
