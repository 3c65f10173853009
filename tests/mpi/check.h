// The common part of the suite's programs: counters of failed checks, byte patterns, the closing line.
//
// A program begins with suite_begin and returns suite_end's value from main. Standard output must be the same on every
// run and on every MPI: only rank 0 prints to it (or all ranks, where the runner sorts the lines). Failures go to
// standard error, the first 20 of a rank.
#pragma once

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kReportTag = 31999, kFailuresShown = 20 };

// The failed checks of this process. The only variable of the suite that outlives a function; owned by the main thread.
static int suite_failures = 0;

__attribute__((unused, format(printf, 3, 4))) static void suite_fail(const char* file, int line, const char* format,
                                                                     ...) {
  if (++suite_failures > kFailuresShown) return;
  char text[600];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  int initialized = 0, finalized = 0, rank = -1;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized && !finalized) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "%s:%d: rank %d: %s\n", file, line, rank, text);
}

// Counts a failure unless `condition` holds. The other arguments are printf's, for the message.
#define CHECK(condition, ...)                                      \
  do {                                                             \
    if (!(condition)) suite_fail(__FILE__, __LINE__, __VA_ARGS__); \
  } while (0)

// Whether times are checked too: on an idle machine (`scripts/test --soak`). A busy machine must not fail a test.
__attribute__((unused)) static int timed(void) {
  return getenv("TIMED_TESTS") != NULL;
}

__attribute__((unused)) static int world_rank(void) {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

__attribute__((unused)) static int world_size(void) {
  int size = -1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

// The rank that this one exchanges messages with: halves of the world face each other, so that on two nodes every
// pair crosses the wire between them. -1 for the last rank of an odd world, and for a world of one.
__attribute__((unused)) static int partner_of(int rank) {
  const int half = world_size() / 2;
  if (rank < half) return rank + half;
  return rank < 2 * half ? rank - half : -1;
}

__attribute__((unused)) static int on_margay(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  return strstr(text, "margay") != NULL;
}

// The byte at `index` of the message called `seed`: two seeds differ early, and a shift by any power of two shows.
__attribute__((unused)) static unsigned char pattern_byte(unsigned seed, size_t index) {
  const unsigned mixed = (unsigned)index * 7u + (unsigned)(index >> 8) * 13u + (unsigned)(index >> 16) * 29u;
  return (unsigned char)(seed * 131u + (seed >> 8) * 17u + mixed);
}

// 256 bytes of a pattern that begin at a multiple of 256 are 7 * 0, 7 * 1, 7 * 2 and so on, plus a constant. So they
// are a piece of this table, because 7 * 183 is 1 modulo 256. Long messages are filled and compared by such pieces,
// which is ten times as fast.
enum { kPatternBlock = 256, kPatternInverse = 183 };
struct pattern_table {
  unsigned char bytes[2 * kPatternBlock];
};
static struct pattern_table pattern_table_made(void) {
  struct pattern_table table;
  for (int i = 0; i < 2 * kPatternBlock; ++i) table.bytes[i] = (unsigned char)(7 * i);
  return table;
}
static const unsigned char* pattern_block(const struct pattern_table* table, unsigned seed, size_t index) {
  return table->bytes + (unsigned char)(pattern_byte(seed, index) * kPatternInverse);
}

__attribute__((unused)) static void pattern_fill(void* memory, size_t bytes, unsigned seed) {
  unsigned char* at = memory;
  size_t i = 0;
  if (bytes >= 8 * kPatternBlock) {
    const struct pattern_table table = pattern_table_made();
    for (; i + kPatternBlock <= bytes; i += kPatternBlock)
      memcpy(at + i, pattern_block(&table, seed, i), kPatternBlock);
  }
  for (; i < bytes; ++i) at[i] = pattern_byte(seed, i);
}

// The index of the first byte that differs from the pattern, or `bytes`.
__attribute__((unused)) static size_t pattern_mismatch(const void* memory, size_t bytes, unsigned seed) {
  const unsigned char* at = memory;
  size_t i = 0;
  if (bytes >= 8 * kPatternBlock) {
    const struct pattern_table table = pattern_table_made();
    while (i + kPatternBlock <= bytes && memcmp(at + i, pattern_block(&table, seed, i), kPatternBlock) == 0)
      i += kPatternBlock;
  }
  while (i < bytes && at[i] == pattern_byte(seed, i)) ++i;
  return i;
}

__attribute__((unused)) static void* memory_of(size_t bytes) {
  void* memory = malloc(bytes ? bytes : 1);
  if (memory == NULL) {
    fprintf(stderr, "no memory for %zu bytes\n", bytes);
    exit(2);
  }
  return memory;
}

__attribute__((unused)) static int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

// Compares the status with the expected one of a received message.
__attribute__((unused)) static void check_status(const char* what, const MPI_Status* status, int source, int tag,
                                                 int bytes) {
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  CHECK(status->MPI_SOURCE == source, "%s: source %d, expected %d", what, status->MPI_SOURCE, source);
  CHECK(status->MPI_TAG == tag, "%s: tag %d, expected %d", what, status->MPI_TAG, tag);
  CHECK(count == bytes, "%s: %d bytes, expected %d", what, count, bytes);
}

// An empty status (MPI 4.0, section 3.7.3).
__attribute__((unused)) static void check_empty_status(const char* what, const MPI_Status* status) {
  int count = -1, cancelled = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  MPI_Test_cancelled(status, &cancelled);
  CHECK(status->MPI_SOURCE == MPI_ANY_SOURCE, "%s: empty status has source %d", what, status->MPI_SOURCE);
  CHECK(status->MPI_TAG == MPI_ANY_TAG, "%s: empty status has tag %d", what, status->MPI_TAG);
  CHECK(count == 0, "%s: empty status has %d bytes", what, count);
  CHECK(cancelled == 0, "%s: empty status is cancelled", what);
}

// Zero-byte messages with a separate tag: a signal from one rank to another to continue.
__attribute__((unused)) static void signal_to(int rank, int tag) {
  MPI_Send(NULL, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}
__attribute__((unused)) static void wait_for(int rank, int tag) {
  MPI_Recv(NULL, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((unused)) static void suite_begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
}

// Collects every rank's failures at rank 0 by plain messages (so that a broken collective cannot hide them), prints
// the closing line there, finalizes. The value is main's exit status: 1 on the ranks with failures, and on rank 0 when
// any rank has some.
__attribute__((unused)) static int suite_end(const char* name) {
  const int rank = world_rank(), size = world_size();
  int failures = suite_failures;
  if (rank == 0) {
    for (int i = 1; i < size; ++i) {
      int theirs = 0;
      MPI_Recv(&theirs, 1, MPI_INT, i, kReportTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      failures += theirs;
    }
    if (failures == 0)
      printf("%s: no errors\n", name);
    else
      printf("%s: %d failed checks\n", name, failures);
    fflush(stdout);
  } else {
    MPI_Send(&failures, 1, MPI_INT, 0, kReportTag, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return failures != 0;
}
