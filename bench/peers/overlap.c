// A benchmark of a nonblocking allreduce beside computation that takes as long as the blocking one: the hidden share,
// and its cost.
//   overlap [--sizes BYTES,...] [--seconds S]
// Lines: "overlap_blocking BYTES VALUE us" (MPI_Allreduce alone), "overlap_computation BYTES VALUE us" (alone,
// calibrated to take as long), "overlap_wait BYTES VALUE us" (MPI_Iallreduce, computation, MPI_Wait), "overlap_test
// BYTES VALUE us" (with MPI_Test after each of 16 parts of the computation). Each of the last two also as a ratio,
// "overlap_wait_of_longer BYTES VALUE x" to the longer of the two alone if each rank has a processor to spare (twice as
// many processors as ranks; no rank is pinned then), otherwise "overlap_wait_of_sum BYTES VALUE x" to both one after
// the other, because there only waiting can be hidden.
#include <stdio.h>
#include <stdlib.h>

#include "mpi_common.h"

enum { kParts = 16, kTurnsAtFirst = 10000, kCalibrations = 3, kRounds = 9 };

struct Overlap {
  struct World world;
  int words;
  long* send;
  long* receive;
  long turns;  // of a part of the computation
  int tests;
};

// For each round. The rounds are short and each has all four measurements, so changes of the machine's speed do not
// affect the ratios.
struct Figures {
  double blocking[kRounds], computation[kRounds], both[2][kRounds], ratio[2][kRounds];
};

static volatile unsigned long result;

// In registers only, so it does not compete for memory with the concurrent transfers.
static void compute(long turns) {
  unsigned long x = result;
  for (long i = 0; i < turns; i++) x = x * 6364136223846793005ul + 1442695040888963407ul;
  result = x;
}

// Each `step`th word.
static void check(const struct Overlap* o, long step) {
  const long size = o->world.size;
  for (long i = 0; i < o->words; i += step) {
    if (o->receive[i] != size * (size - 1) / 2 + size * i) fail("allreduce gave a wrong sum");
  }
}

// Stores wrong results, which a call without effect would leave.
static void clear_ends(const struct Overlap* o) {
  o->receive[0] = o->receive[o->words - 1] = -1;
}

static double blocking(void* state, long count) {
  const struct Overlap* o = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    clear_ends(o);
    MPI_Allreduce(o->send, o->receive, o->words, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    check(o, o->words - 1);
  }
  return until_all_ended(start);
}

static double computation(void* state, long count) {
  const struct Overlap* o = state;
  const double start = now_s();
  for (long i = 0; i < count * kParts; i++) compute(o->turns);
  return until_all_ended(start);
}

static double both(void* state, long count) {
  const struct Overlap* o = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    MPI_Request request;
    int done = 0;
    clear_ends(o);
    MPI_Iallreduce(o->send, o->receive, o->words, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
    for (int part = 0; part < kParts; part++) {
      compute(o->turns);
      if (o->tests && !done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    if (!done) MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(o, o->words - 1);
  }
  return until_all_ended(start);
}

// Sets the turns so that the computation takes about `seconds`, the same on all ranks. The processors of a virtual
// machine change their speed, so the result is measured again, and corrected.
static void calibrate(struct Overlap* o, double seconds, double of_each) {
  o->turns = kTurnsAtFirst;
  for (int i = 0; i < kCalibrations; i++) {
    const double taken = time_of_step(computation, o, of_each, agree_on);
    o->turns = agree_on((long)((double)o->turns * seconds / taken) + 1);
  }
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Of an odd number of rounds.
static double median(double* values) {
  qsort(values, kRounds, sizeof *values, compare);
  return values[kRounds / 2];
}

static void measure(struct Overlap* o, double seconds, int to_spare, struct Figures* f) {
  const double each = seconds / kRounds;
  blocking(o, 1);
  both(o, 1);
  check(o, 1);
  calibrate(o, time_of_step(blocking, o, each, agree_on), each);
  for (int i = 0; i < kRounds; i++) {
    const double alone = f->blocking[i] = time_of_step(blocking, o, each, agree_on);
    const double computing = f->computation[i] = time_of_step(computation, o, each, agree_on);
    const double whole = to_spare ? (alone > computing ? alone : computing) : alone + computing;
    for (o->tests = 0; o->tests < 2; o->tests++) {
      f->both[o->tests][i] = time_of_step(both, o, each, agree_on);
      f->ratio[o->tests][i] = f->both[o->tests][i] / whole;
    }
  }
}

static void report_all(struct Figures* f, long bytes, int to_spare) {
  report("overlap_blocking", bytes, median(f->blocking) * 1e6, "us");
  report("overlap_computation", bytes, median(f->computation) * 1e6, "us");
  for (int tests = 0; tests < 2; tests++) {
    const char* way = tests ? "overlap_test" : "overlap_wait";
    char name[64];
    snprintf(name, sizeof name, "%s_%s", way, to_spare ? "of_longer" : "of_sum");
    report(way, bytes, median(f->both[tests]) * 1e6, "us");
    report(name, bytes, median(f->ratio[tests]), "x");
  }
}

int main(int argc, char** argv) {
  const struct World world = begin(&argc, &argv, 0);
  struct Options options = {.mode = "", .sizes = {1 << 20}, .size_count = 1, .seconds = 0.1};
  read_options(argc, argv, &options);
  const int to_spare = processors() >= 2 * world.size;
  if (to_spare) unpin();
  for (int i = 0; i < options.size_count; i++) {
    struct Overlap o = {.world = world, .words = (int)(options.sizes[i] / 8)};
    if (o.words < 2) fail("an overlap has at least 16 bytes");
    o.send = (long*)new_buffer((size_t)options.sizes[i]);
    o.receive = (long*)new_buffer((size_t)options.sizes[i]);
    for (long word = 0; word < o.words; word++) o.send[word] = world.rank + word;
    struct Figures figures;
    measure(&o, options.seconds, to_spare, &figures);
    if (world.rank == 0) report_all(&figures, options.sizes[i], to_spare);
    free(o.send);
    free(o.receive);
  }
  MPI_Finalize();
  return 0;
}
