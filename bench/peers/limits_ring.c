// A benchmark of shared memory between two processors, without MPI: minimal rings, one process on each side.
//   limits_ring --mode cells|ring_copy [--sizes A,B] [--seconds S]
// Lines: "cells 64 VALUE msg/s" (a cache line for each message, the sequence number inside), "ring_copy CHUNK VALUE
// MB/s" (a stream through a ring of 128 KiB, copied in by one and out by the other, CHUNK bytes at a time).
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common.h"

enum { kLine = 64, kCells = 1024, kWindow = 64, kRingBytes = 128 << 10, kUserBytes = 1 << 20 };

struct Cell {
  _Alignas(kLine) long body[7];
  atomic_long sequence;  // number of the message, from 1; stored last
};

// In memory that both processes share; each counter has its own line.
struct Ring {
  _Alignas(kLine) atomic_long written;  // chunks; only the producer stores it
  _Alignas(kLine) atomic_long read;     // chunks or cells; only the consumer stores it
  struct Cell cells[kCells];
  char bytes[kRingBytes];
};

struct Side {
  struct Ring* ring;
  char* user;
  long chunk;
  long next;   // number of the next chunk or cell
  long known;  // the other side's counter, when it was last read
};

static void await(atomic_long* counter, long* known, long least) {
  while (*known < least) *known = atomic_load_explicit(counter, memory_order_acquire);
}

static void consume_cells(void* state) {
  struct Side* s = state;
  for (;;) {
    struct Cell* cell = &s->ring->cells[s->next % kCells];
    while (atomic_load_explicit(&cell->sequence, memory_order_acquire) != s->next + 1) continue;
    if (cell->body[0] != s->next) fail("a cell was wrong");
    s->next++;
    if (s->next % kWindow == 0) atomic_store_explicit(&s->ring->read, s->next, memory_order_release);
  }
}

static double produce_cells(void* state, long count) {
  struct Side* s = state;
  const double start = now_s();
  for (long end = s->next + count * kWindow; s->next < end; s->next++) {
    await(&s->ring->read, &s->known, s->next + 1 - kCells);
    struct Cell* cell = &s->ring->cells[s->next % kCells];
    cell->body[0] = s->next;
    atomic_store_explicit(&cell->sequence, s->next + 1, memory_order_release);
  }
  await(&s->ring->read, &s->known, s->next);
  return now_s() - start;
}

static char* user_place(const struct Side* s) {
  return s->user + s->next * s->chunk % kUserBytes;
}
static char* ring_place(const struct Side* s) {
  return s->ring->bytes + s->next * s->chunk % kRingBytes;
}

static void consume_chunks(void* state) {
  struct Side* s = state;
  memset(s->user, 0, kUserBytes);  // pages of its own
  for (;; s->next++) {
    await(&s->ring->written, &s->known, s->next + 1);
    memcpy(user_place(s), ring_place(s), (size_t)s->chunk);
    if (user_place(s)[s->chunk - 1] != 1) fail("a chunk was wrong");
    atomic_store_explicit(&s->ring->read, s->next + 1, memory_order_release);
  }
}

static double produce_chunks(void* state, long count) {
  struct Side* s = state;
  const double start = now_s();
  for (long end = s->next + count * (kUserBytes / s->chunk); s->next < end; s->next++) {
    await(&s->ring->read, &s->known, s->next + 1 - kRingBytes / s->chunk);
    memcpy(ring_place(s), user_place(s), (size_t)s->chunk);
    atomic_store_explicit(&s->ring->written, s->next + 1, memory_order_release);
  }
  await(&s->ring->read, &s->known, s->next);
  return now_s() - start;
}

static void measure(int cells, long chunk, double seconds) {
  if (!cells && (chunk < 1 || kRingBytes % chunk != 0)) fail("a chunk must divide the ring");
  struct Ring* ring = new_shared(sizeof *ring);
  struct Side side = {.ring = ring, .user = new_buffer(kUserBytes), .chunk = chunk};
  const pid_t child = start_child(cells ? consume_cells : consume_chunks, &side, 1);
  memset(side.user, 1, kUserBytes);
  if (cells) {
    report("cells", kLine, kWindow / time_of_step(produce_cells, &side, seconds, alone), "msg/s");
  } else {
    report("ring_copy", chunk, kUserBytes / time_of_step(produce_chunks, &side, seconds, alone) / 1e6, "MB/s");
  }
  end_child(child);
  munmap(ring, sizeof *ring);
  free(side.user);
}

int main(int argc, char** argv) {
  struct Options options = {.mode = "cells", .sizes = {8192}, .size_count = 1, .seconds = 0.1};
  read_options(argc, argv, &options);
  pin_to(0);
  const int cells = strcmp(options.mode, "cells") == 0;
  for (int i = 0; i < options.size_count; i++) measure(cells, options.sizes[i], options.seconds);
  return 0;
}
