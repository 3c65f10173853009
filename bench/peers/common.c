#define _GNU_SOURCE
#include "common.h"

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kBatchesMin = 3, kBatchesMax = 41 };

void fail(const char* what) {
  fprintf(stderr, "benchmark: %s\n", what);
  exit(1);
}

static void read_sizes(const char* text, struct Options* options) {
  char* end = NULL;
  options->size_count = 0;
  for (const char* at = text; *at != '\0'; at = *end == ',' ? end + 1 : end) {
    const long size = strtol(at, &end, 10);
    if (end == at || size < 0 || options->size_count == kSizesMax) fail("--sizes takes numbers with commas between");
    options->sizes[options->size_count++] = size;
  }
}

void read_options(int argc, char** argv, struct Options* options) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) fail("an option without a value");
    if (strcmp(argv[i], "--mode") == 0) {
      options->mode = argv[i + 1];
    } else if (strcmp(argv[i], "--sizes") == 0) {
      read_sizes(argv[i + 1], options);
    } else if (strcmp(argv[i], "--seconds") == 0) {
      options->seconds = strtod(argv[i + 1], NULL);
    } else if (strcmp(argv[i], "--block") == 0) {
      options->block = strtol(argv[i + 1], NULL, 10);
    } else if (strcmp(argv[i], "--processes") == 0) {
      options->processes = strtol(argv[i + 1], NULL, 10);
    } else if (strcmp(argv[i], "--file") == 0) {
      options->file = argv[i + 1];
    } else {
      fail("unknown option (there are --mode, --sizes, --seconds, --block, --processes, --file)");
    }
  }
}

// Not MPI_Wtime, so that all libraries are measured by the same clock.
double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void nap(long milliseconds) {
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

// The processors that the process had before any pinning.
static const cpu_set_t* all_processors(void) {
  static cpu_set_t all;
  static int known = 0;
  if (!known && sched_getaffinity(0, sizeof all, &all) != 0) fail("sched_getaffinity");
  known = 1;
  return &all;
}

int processors(void) {
  return CPU_COUNT(all_processors());
}

void unpin(void) {
  if (sched_setaffinity(0, sizeof(cpu_set_t), all_processors()) != 0) fail("sched_setaffinity");
}

void pin_to(int index) {
  const cpu_set_t* all = all_processors();
  for (int processor = 0; processor < CPU_SETSIZE; processor++) {
    if (!CPU_ISSET(processor, all) || index-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) fail("sched_setaffinity");
    return;
  }
}

char* new_buffer(size_t bytes) {
  const size_t pages = bytes / kPageBytes + 1;
  char* buffer = aligned_alloc(kPageBytes, pages * kPageBytes);
  if (buffer == NULL) fail("out of memory");
  memset(buffer, 0, pages * kPageBytes);
  return buffer;
}

// A failed child has printed the reason; the others must not wait for it.
static void end_with_the_child(int signal_number) {
  (void)signal_number;
  _exit(1);
}

pid_t start_child(void (*work)(void*), void* state, int processor) {
  signal(SIGCHLD, end_with_the_child);
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child > 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (processor >= 0) pin_to(processor);
  work(state);
  _exit(1);
}

void end_child(pid_t child) {
  signal(SIGCHLD, SIG_DFL);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

void* new_shared(size_t bytes) {
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("mmap");
  memset(memory, 0, bytes);
  return memory;
}

static char pattern(size_t i, unsigned seed) {
  return (char)((i * 131 + (i >> 8) * 17 + seed * 29 + 7) & 0xff);
}

void fill_pattern(char* buffer, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; i++) buffer[i] = pattern(i, seed);
}

void check_pattern(const char* buffer, size_t bytes, unsigned seed, const char* what) {
  for (size_t i = 0; i < bytes; i++) {
    if (buffer[i] == pattern(i, seed)) continue;
    fprintf(stderr, "benchmark: %s: byte %zu of %zu is wrong\n", what, i, bytes);
    exit(1);
  }
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

double median_of(double* values, int count) {
  qsort(values, (size_t)count, sizeof values[0], compare);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

long alone(long value) {
  return value;
}

double time_of_step(Step step, void* state, double seconds, Agree agree) {
  long count = 1;
  long batches = kBatchesMax;
  double spent = step(state, 1);  // connections are opened and memory is touched here
  for (;;) {
    agree(0);
    spent = step(state, count);
    const int long_enough = spent >= seconds / kBatchesMax || count >= 1L << 26;
    if (agree(long_enough)) break;
    count *= 2;
  }
  if (spent > 0 && seconds / spent < (double)batches) batches = (long)(seconds / spent);
  if (batches < kBatchesMin) batches = kBatchesMin;
  batches = agree(batches);

  double times[kBatchesMax];
  for (long i = 0; i < batches; i++) {
    agree(0);
    times[i] = step(state, count);
  }
  return median_of(times, (int)batches) / (double)count;
}

void report(const char* name, long size, double value, const char* unit) {
  printf("%s %ld %.9g %s\n", name, size, value, unit);
  fflush(stdout);
}
