// A benchmark of copies from one process's memory to another's by system calls, without MPI: two processes, each on its
// own processor, with the buffers of latency.c and bandwidth.c.
//   limits_copy --mode read|shared|stream_read|stream_shared|both [--sizes A,B] [--seconds S]
// Lines, one way of a ping-pong: "copy_read SIZE VALUE us" (the receiver reads the body, its processor alone copies),
// "copy_shared SIZE VALUE us" (the receiver reads the front half while the sender writes the back half). Windows of as
// many bodies as bandwidth.c has, with one answer: "copy_stream_read SIZE VALUE MB/s", "copy_stream_shared SIZE VALUE
// MB/s" (the receiver reads every other body while the sender writes the others), "copy_both SIZE VALUE MB/s" (each
// process reads the data of the other, both at once; the sum).
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common.h"

enum { kWindow = 64, kWindowMin = 2, kReceiveBytes = 8 << 20 };

// In shared memory, written by one side: the last steps in which it offered bodies, answered, and wrote its share.
struct Lines {
  _Alignas(64) atomic_long offered;
  _Alignas(64) atomic_long answered;
  _Alignas(64) atomic_long written;
  _Alignas(64) atomic_long ready;
};
struct Side {
  struct Lines* lines[2];  // by side: each writes only its own
  int me;
  pid_t peer;
  int shared;  // the sender copies a half
  int both;
  size_t bytes;
  int window;
  char* send;
  char* receive;  // `window` bodies; both at the same addresses in both processes
  long step;
};

static void copy(ssize_t (*call)(pid_t, const struct iovec*, unsigned long, const struct iovec*, unsigned long,
                                 unsigned long),
                 const struct Side* s, char* mine, char* theirs, size_t bytes) {
  const struct iovec here = {mine, bytes}, there = {theirs, bytes};
  if (call(s->peer, &here, 1, &there, 1, 0) != (ssize_t)bytes) fail("the system does not copy between processes");
}

static char* place(const struct Side* s, int k) {
  return s->receive + (size_t)k * s->bytes;
}
static void publish(atomic_long* line, long step) {
  atomic_store_explicit(line, step, memory_order_release);
}
static void await(atomic_long* line, long step) {
  while (atomic_load_explicit(line, memory_order_acquire) < step) continue;
}

// The sender's part of a step: offers its bodies, and copies its share of them.
static void send_bodies(struct Side* s) {
  struct Lines* mine = s->lines[s->me];
  publish(&mine->offered, s->step);
  if (!s->shared) return;
  if (s->window == 1) {
    const size_t half = s->bytes / 2;
    copy(process_vm_writev, s, s->send + half, s->receive + half, s->bytes - half);
  }
  for (int k = 1; k < s->window; k += 2) copy(process_vm_writev, s, s->send, place(s, k), s->bytes);
  publish(&mine->written, s->step);
}

static void receive_bodies(struct Side* s) {
  struct Lines* theirs = s->lines[1 - s->me];
  await(&theirs->offered, s->step);
  if (s->shared && s->window == 1) {
    copy(process_vm_readv, s, s->receive, s->send, s->bytes / 2);
  } else {
    for (int k = 0; k < s->window; k += 1 + s->shared) copy(process_vm_readv, s, place(s, k), s->send, s->bytes);
  }
  if (s->shared) await(&theirs->written, s->step);
}

static void answer(struct Side* s) {
  publish(&s->lines[s->me]->answered, s->step);
}
static void await_answer(struct Side* s) {
  await(&s->lines[1 - s->me]->answered, s->step);
}

static void one_step(struct Side* s) {
  s->step++;
  if (s->both) {
    send_bodies(s);
    receive_bodies(s);
    answer(s);
    await_answer(s);
  } else if (s->me == 0) {
    send_bodies(s);
    if (s->window == 1) receive_bodies(s);
    if (s->window > 1) await_answer(s);
  } else {
    receive_bodies(s);
    if (s->window == 1) send_bodies(s);
    if (s->window > 1) answer(s);
  }
}

static double steps(void* state, long count) {
  const double start = now_s();
  for (long i = 0; i < count; i++) one_step(state);
  return now_s() - start;
}

static void work(void* state) {
  struct Side* s = state;
  s->me = 1;
  s->peer = getppid();
  fill_pattern(s->send, s->bytes, 1);  // pages of its own
  memset(s->receive, 0, s->bytes * (size_t)s->window);
  publish(&s->lines[1]->ready, 1);
  one_step(s);
  if (s->both || s->window == 1) check_pattern(place(s, s->window - 1), s->bytes, 0, "copy");
  if (!s->both && s->window > 1) check_pattern(place(s, 1), s->bytes, 0, "copy");
  for (;;) one_step(s);
}

static void measure(const char* mode, long size, double seconds) {
  struct Side s = {.bytes = (size_t)size, .window = 1};
  const int windows = strncmp(mode, "stream", 6) == 0;
  s.shared = strstr(mode, "shared") != NULL;
  s.both = strcmp(mode, "both") == 0;
  if (windows || s.both) {
    s.window = kWindow;
    if (size * s.window > kReceiveBytes) s.window = (int)(kReceiveBytes / size);
    if (s.window < kWindowMin) s.window = kWindowMin;
  }
  s.lines[0] = new_shared(sizeof(struct Lines));
  s.lines[1] = new_shared(sizeof(struct Lines));
  s.send = new_buffer(s.bytes);
  s.receive = new_buffer(s.bytes * (size_t)s.window);
  fill_pattern(s.send, s.bytes, 0);
  s.peer = start_child(work, &s, 1);
  await(&s.lines[1]->ready, 1);
  one_step(&s);
  if (s.both || s.window == 1) check_pattern(s.receive, s.bytes, 1, "copy");
  const double step = time_of_step(steps, &s, seconds, alone);
  char name[32];
  snprintf(name, sizeof name, "copy_%s", mode);
  if (s.window == 1) {
    report(name, size, step / 2 * 1e6, "us");
  } else {
    report(name, size, (double)size * s.window * (s.both ? 2 : 1) / step / 1e6, "MB/s");
  }
  end_child(s.peer);
  for (int i = 0; i < 2; i++) munmap(s.lines[i], sizeof(struct Lines));
  free(s.send);
  free(s.receive);
}

int main(int argc, char** argv) {
  struct Options options = {.mode = "read", .sizes = {65536}, .size_count = 1, .seconds = 0.1};
  read_options(argc, argv, &options);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // needed if only parents may read; elsewhere it fails without effect
  pin_to(0);
  for (int i = 0; i < options.size_count; i++) measure(options.mode, options.sizes[i], options.seconds);
  return 0;
}
