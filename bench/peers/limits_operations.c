// A benchmark of collective operations in shared memory without MPI, by a minimal program for each: any number of
// processes; they yield their processor while they wait if there are more of them than processors.
//   limits_operations [--mode OPERATION] [--processes N] [--sizes BYTES,...] [--seconds S]
// OPERATION and BYTES as in operations.c. Lines: "OPERATION_segment_N BYTES VALUE us" (through a segment that all
// share, piece by piece: each process copies in the data that others need and sets a flag, each copies out the data
// that it needs), "OPERATION_direct_N BYTES VALUE us" (process_vm_readv and process_vm_writev from buffer to buffer,
// flags before and after). Operations that combine do it in slices, one for each process. A process waits only for
// those to which it sends or from which it receives.
#pragma GCC optimize("O3")  // the loops that combine
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "operation_data.h"

enum { kProcessesMax = 256, kPieceBytes = 64 << 10, kAreaBytes = 1 << 20, kFetchWords = 4096, kLine = 64 };
enum Kind { kBcast, kReduce, kAllreduce, kGather, kScatter, kAllgather, kAlltoall, kScan, kReduceScatter };
static const char* const kNames[] = {"bcast",     "reduce",   "allreduce", "gather",        "scatter",
                                     "allgather", "alltoall", "scan",      "reduce_scatter"};

// Written by one process: the last steps in which its data was available, its slice was combined, and it needed no
// other process any more.
struct Flags {
  _Alignas(64) atomic_long came;
  _Alignas(64) atomic_long combined;
  _Alignas(64) atomic_long done;
  pid_t pid;
};
struct Group {
  struct Flags* flags;  // in shared memory, as is the segment
  char* segment;        // an area for each process, separate for odd and even steps, and a last one for results
  size_t piece;         // bytes of a block that go through the segment in one step
  enum Kind kind;
  const struct OperationShape* shape;
  int me, processes, yields, direct;
  size_t bytes;
  long* send;  // the buffers are at the same addresses in each process
  long* receive;
  long number;  // of the step
  long fetched[kFetchWords], sum[kFetchWords];
};

static void await(const struct Group* g, atomic_long* line, long least) {
  while (atomic_load_explicit(line, memory_order_acquire) < least) {
    if (g->yields) sched_yield();
  }
}
static void publish(const struct Group* g, atomic_long* line) {
  atomic_store_explicit(line, g->number, memory_order_release);
}
static int combines(const struct Group* g) {
  return g->kind == kReduce || g->kind == kAllreduce || g->kind == kScan || g->kind == kReduceScatter;
}
static void add(long* restrict to, const long* restrict from, size_t words) {
  for (size_t i = 0; i < words; i++) to[i] += from[i];
}
static size_t slice(const struct Group* g, size_t words, int of) {
  return words * (size_t)of / (size_t)g->processes;
}
static char* block_of(const struct Group* g, const long* buffer, int block, size_t at) {
  return (char*)buffer + (size_t)block * g->bytes + at;
}

// --- through a segment

// Whether process `to` reads the data that process `from` copied in.
static int reads(const struct Group* g, int to, int from) {
  if (g->kind == kBcast || g->kind == kScatter) return from == 0;
  return g->kind != kGather || to == 0;
}

static long* area(const struct Group* g, int process, int block) {
  const size_t blocks = g->shape->sends_to_each ? (size_t)g->processes : 1;
  const size_t areas = (size_t)g->processes + 1, place = (size_t)(g->number & 1) * areas + (size_t)process;
  return (long*)(g->segment + (place * blocks + (size_t)block) * g->piece);
}

static void copy_in(const struct Group* g, size_t at, size_t bytes) {
  if ((g->kind == kBcast || g->kind == kScatter) && g->me != 0) return;
  for (int k = 0; k < (g->shape->sends_to_each ? g->processes : 1); k++) {
    memcpy(area(g, g->me, k), block_of(g, g->send, k, at), bytes);
  }
}

// This process's slice: into the last area, or (scan) each partial sum over the ranks into the area of the last of
// them.
static void combine(const struct Group* g, size_t bytes) {
  const size_t first = slice(g, bytes / 8, g->me), words = slice(g, bytes / 8, g->me + 1) - first;
  if (g->kind == kScan) {
    for (int r = 1; r < g->processes; r++) add(area(g, r, 0) + first, area(g, r - 1, 0) + first, words);
    return;
  }
  long* sum = area(g, g->processes, 0) + first;
  memcpy(sum, area(g, 0, 0) + first, words * 8);
  for (int r = 1; r < g->processes; r++) add(sum, area(g, r, 0) + first, words);
}

static void copy_out(const struct Group* g, size_t at, size_t bytes) {
  char* to = block_of(g, g->receive, 0, at);
  if (g->shape->receives_from_each) {
    if (g->kind == kGather && g->me != 0) return;
    for (int r = 0; r < g->processes; r++) {
      memcpy(block_of(g, g->receive, r, at), area(g, r, g->kind == kAlltoall ? g->me : 0), bytes);
    }
  } else if (g->kind == kReduceScatter) {
    memcpy(to, area(g, 0, g->me), bytes);
    for (int r = 1; r < g->processes; r++) add((long*)to, area(g, r, g->me), bytes / 8);
  } else if (g->kind == kReduce || g->kind == kAllreduce) {
    if (g->kind == kAllreduce || g->me == 0) memcpy(to, area(g, g->processes, 0), bytes);
  } else if (g->kind == kScan) {
    memcpy(to, area(g, g->me, 0), bytes);
  } else if (g->kind == kScatter || g->me != 0) {
    memcpy(to, area(g, 0, g->kind == kScatter ? g->me : 0), bytes);
  }
}

static void piece_through_segment(struct Group* g, size_t at, size_t bytes) {
  g->number++;
  for (int to = 0; to < g->processes; to++) {
    if (reads(g, to, g->me)) await(g, &g->flags[to].done, g->number - 2);  // a process that still reads the old data
  }
  copy_in(g, at, bytes);
  publish(g, &g->flags[g->me].came);
  for (int from = 0; from < g->processes; from++) {
    if (reads(g, g->me, from)) await(g, &g->flags[from].came, g->number);
  }
  if (combines(g) && g->kind != kReduceScatter) {
    combine(g, bytes);
    publish(g, &g->flags[g->me].combined);
    for (int r = 0; r < g->processes && (g->kind != kReduce || g->me == 0); r++) {
      await(g, &g->flags[r].combined, g->number);
    }
  }
  copy_out(g, at, bytes);
  publish(g, &g->flags[g->me].done);
}

// --- from buffer to buffer

// With two processes, the root copies half of the data that it sends.
static int halves(const struct Group* g) {
  return g->kind == kBcast && g->processes == 2 && !g->yields;
}
// Whether others read or write memory of process `whose`.
static int is_touched(const struct Group* g, int whose) {
  return (g->kind != kBcast && g->kind != kScatter && g->kind != kGather) || whose == 0 || halves(g);
}

typedef ssize_t (*Copy)(pid_t, const struct iovec*, unsigned long, const struct iovec*, unsigned long, unsigned long);

static void copy(const struct Group* g, Copy call, int with, void* mine, void* theirs, size_t bytes) {
  if (with == g->me) {
    if (call == process_vm_readv) memcpy(mine, theirs, bytes);
    if (call == process_vm_writev) memcpy(theirs, mine, bytes);
    return;
  }
  const struct iovec here = {mine, bytes}, there = {theirs, bytes};
  if (bytes > 0 && call(g->flags[with].pid, &here, 1, &there, 1, 0) != (ssize_t)bytes) {
    fail("the system does not copy between processes");
  }
}

// Words [first, last) of all sent data, combined in pieces that stay in the cache.
static void combine_directly(struct Group* g, size_t first, size_t last) {
  const size_t into = g->kind == kReduceScatter ? 0 : first;
  for (size_t at = first, words; at < last; at += words) {
    words = last - at < kFetchWords ? last - at : kFetchWords;
    long* mine = g->receive + into + (at - first);
    long* sum = g->kind == kAllreduce || g->kind == kReduceScatter || g->me == 0 ? mine : g->sum;
    if (g->kind == kScan) sum = g->sum;
    memset(sum, 0, words * 8);
    for (int r = 0; r < g->processes; r++) {
      if (r != g->me) copy(g, process_vm_readv, r, g->fetched, g->send + at, words * 8);
      add(sum, r == g->me ? g->send + at : g->fetched, words);
      if (g->kind == kScan) copy(g, process_vm_writev, r, sum, g->receive + at, words * 8);
    }
    if (g->kind == kReduce && g->me != 0) copy(g, process_vm_writev, 0, sum, g->receive + at, words * 8);
  }
}

static void carry(struct Group* g) {
  const size_t half = halves(g) ? g->bytes / 2 : g->bytes;
  const int n = g->processes, me = g->me;
  if (g->kind == kBcast) {
    if (me != 0) copy(g, process_vm_readv, 0, g->receive, g->send, half);
    if (me == 0 && halves(g)) {
      copy(g, process_vm_writev, 1, (char*)g->send + half, (char*)g->receive + half, g->bytes - half);
    }
  }
  if (g->kind == kGather) copy(g, process_vm_writev, 0, g->send, block_of(g, g->receive, me, 0), g->bytes);
  if (g->kind == kScatter) copy(g, process_vm_readv, 0, g->receive, block_of(g, g->send, me, 0), g->bytes);
  for (int i = 0; i < n && (g->kind == kAllgather || g->kind == kAlltoall); i++) {
    const int from = (me + i) % n;  // not all from the same process at once
    copy(g, process_vm_readv, from, block_of(g, g->receive, from, 0),
         block_of(g, g->send, g->kind == kAlltoall ? me : 0, 0), g->bytes);
  }
  if (g->kind == kReduceScatter) combine_directly(g, (size_t)me * g->bytes / 8, (size_t)(me + 1) * g->bytes / 8);
  if (!combines(g) || g->kind == kReduceScatter) return;
  combine_directly(g, slice(g, g->bytes / 8, me), slice(g, g->bytes / 8, me + 1));
  publish(g, &g->flags[me].combined);
  for (int i = 1; i < n && g->kind == kAllreduce; i++) {
    const int from = (me + i) % n;
    const size_t first = slice(g, g->bytes / 8, from), words = slice(g, g->bytes / 8, from + 1) - first;
    await(g, &g->flags[from].combined, g->number);
    copy(g, process_vm_readv, from, g->receive + first, g->receive + first, words * 8);
  }
}

static void directly(struct Group* g) {
  g->number++;
  publish(g, &g->flags[g->me].came);
  for (int r = 0; r < g->processes; r++) {
    if (is_touched(g, r)) await(g, &g->flags[r].came, g->number);
  }
  carry(g);
  publish(g, &g->flags[g->me].done);
  for (int r = 0; r < g->processes && is_touched(g, g->me); r++) await(g, &g->flags[r].done, g->number);
}

// --- both

static void one_step(struct Group* g) {
  if (g->direct) {
    directly(g);
    return;
  }
  for (size_t at = 0; at < g->bytes; at += g->piece) {
    piece_through_segment(g, at, g->bytes - at < g->piece ? g->bytes - at : g->piece);
  }
}

static double steps(void* state, long count) {
  const double start = now_s();
  for (long i = 0; i < count; i++) one_step(state);
  return now_s() - start;
}

static void first_step(struct Group* g) {
  const size_t n = (size_t)g->processes, words = g->bytes / 8;
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // needed if only parents may read; elsewhere it fails without effect
  g->flags[g->me].pid = getpid();             // published with the first flag
  fill_words(g->send, g->shape->sends_to_each ? n * words : words, g->me);
  memset(g->receive, 0xff, g->shape->receives_from_each ? n * g->bytes : g->bytes);
  one_step(g);
  check_words(g->shape->name, g->receive, words, g->me, g->processes);
}

static void work(void* state) {
  first_step(state);
  for (;;) one_step(state);
}

static void measure(const struct Options* options, size_t bytes, int direct) {
  const int n = (int)options->processes;
  static struct Group g;
  g = (struct Group){
      .shape = shape_of(options->mode), .processes = n, .bytes = bytes, .direct = direct, .piece = kPieceBytes};
  while (strcmp(kNames[g.kind], options->mode) != 0) g.kind++;  // shape_of knows the same names
  const size_t blocks = g.shape->sends_to_each ? (size_t)n : 1;
  while (g.piece * blocks > kAreaBytes || (g.piece > kLine && g.piece / 2 >= bytes)) g.piece /= 2;
  const size_t segment = direct ? kPageBytes : 2 * ((size_t)n + 1) * blocks * g.piece;
  g.yields = n > processors();
  g.flags = new_shared((size_t)n * sizeof *g.flags);
  g.segment = new_shared(segment);
  g.send = (long*)new_buffer(blocks * bytes);
  g.receive = (long*)new_buffer(g.shape->receives_from_each ? (size_t)n * bytes : bytes);
  pid_t children[kProcessesMax];
  unpin();
  if (!g.yields) pin_to(0);
  for (int i = 1; i < n; i++) {
    g.me = i;
    children[i] = start_child(work, &g, g.yields ? -1 : i);
  }
  g.me = 0;
  first_step(&g);
  char name[64];
  snprintf(name, sizeof name, "%s_%s_%d", options->mode, direct ? "direct" : "segment", n);
  report(name, (long)bytes, time_of_step(steps, &g, options->seconds, alone) * 1e6, "us");
  for (int i = 1; i < n; i++) end_child(children[i]);
  munmap(g.flags, (size_t)n * sizeof *g.flags);
  munmap(g.segment, segment);
  free(g.send);
  free(g.receive);
}

int main(int argc, char** argv) {
  struct Options options = {.mode = "bcast", .sizes = {65536}, .size_count = 1, .seconds = 0.05, .processes = 2};
  read_options(argc, argv, &options);
  if (options.processes < 2 || options.processes > kProcessesMax) fail("--processes takes 2 to 256");
  for (int i = 0; i < options.size_count; i++) {
    for (int direct = 0; direct < 2; direct++) measure(&options, (size_t)options.sizes[i], direct);
  }
  return 0;
}
