// The ranks of `margay calibrate`: an MPI program that measures calls and messages. The command line lists measurements
// as NAME or NAME:BYTES; rank 0 prints the results as "NAME BYTES SECONDS". The launcher selects the algorithms
// (--collective).
//
//   bcast:N      a broadcast whose root alternates between two ranks, so that neither can run ahead
//   allreduce:N  an allreduce of N bytes of doubles
//   barrier
//   window:N     N messages of 8 bytes one after the other, and an answer
//   pass:N       a message of N bytes, there and back: the time of one way
//   stream:N     kStream messages of N bytes one after the other, and an answer: the time of a message
//   send         the sender's time for a message of 8 bytes, while the receiver is idle
//   combine:N    the sum of two rows of N bytes of doubles, by one rank without messages
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_adi/abi/mpi.h"

// A batch takes at least kBatchSeconds, and batches are repeated for kMeasureSeconds in total. Disturbances of a
// machine come in bursts: the fastest third of the batches is free of them, and its median is reproducible.
static const double kBatchSeconds = 1e-3;
static const double kMeasureSeconds = 60e-3;
// On a busy machine the batches measured by then must suffice.
static const double kPatienceSeconds = 240e-3;
enum {
  kBatchesMin = 9,
  kBatchesMax = 300,
  kCallsMax = 1 << 17,
  kAnswerTag = 1,
  kShortBytes = 8,
  kNameMax = 32,
  kStream = 64
};

typedef struct {
  char name[kNameMax];
  // For window: the number of messages.
  int bytes;
} Measurement;

typedef struct {
  int rank;
  // Of `bytes` + kShortBytes bytes each.
  double *data, *result;
  MPI_Request* requests;
  // For send: seconds inside MPI_Send.
  double spent;
} Memory;

static void pass_window(Memory* memory, int messages) {
  if (memory->rank == 0) {
    for (int i = 0; i < messages; ++i) {
      MPI_Isend(memory->data, kShortBytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &memory->requests[i]);
    }
    MPI_Waitall(messages, memory->requests, MPI_STATUSES_IGNORE);
    MPI_Recv(memory->result, kShortBytes, MPI_BYTE, 1, kAnswerTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (memory->rank == 1) {
    for (int i = 0; i < messages; ++i) {
      MPI_Irecv(memory->result, kShortBytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &memory->requests[i]);
    }
    MPI_Waitall(messages, memory->requests, MPI_STATUSES_IGNORE);
    MPI_Send(memory->data, kShortBytes, MPI_BYTE, 0, kAnswerTag, MPI_COMM_WORLD);
  }
}

static void pass_row(Memory* memory, int messages, int bytes, int answer) {
  const int peer = 1 - memory->rank;
  for (int i = 0; i < messages; ++i) {
    if (memory->rank == 0) MPI_Send(memory->data, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    if (memory->rank == 1) MPI_Recv(memory->result, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (memory->rank == 1) MPI_Send(memory->data, answer, MPI_BYTE, peer, kAnswerTag, MPI_COMM_WORLD);
  if (memory->rank == 0)
    MPI_Recv(memory->result, answer, MPI_BYTE, peer, kAnswerTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void pass_one(Memory* memory) {
  const int peer = 1 - memory->rank;
  if (memory->rank == 1) MPI_Recv(memory->result, kShortBytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double began = MPI_Wtime();
  MPI_Send(memory->data, kShortBytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
  memory->spent += MPI_Wtime() - began;
  if (memory->rank == 0) MPI_Recv(memory->result, kShortBytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void do_once(const Measurement* what, Memory* memory, int turn) {
  const int doubles = what->bytes / (int)sizeof(double);
  if (strcmp(what->name, "bcast") == 0) {
    MPI_Bcast(memory->data, what->bytes, MPI_BYTE, turn % 2, MPI_COMM_WORLD);
  } else if (strcmp(what->name, "allreduce") == 0) {
    MPI_Allreduce(memory->data, memory->result, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(what->name, "barrier") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(what->name, "window") == 0) {
    pass_window(memory, what->bytes);
  } else if (strcmp(what->name, "pass") == 0) {
    pass_row(memory, 1, what->bytes, what->bytes);
  } else if (strcmp(what->name, "stream") == 0) {
    pass_row(memory, kStream, what->bytes, kShortBytes);
  } else if (strcmp(what->name, "send") == 0) {
    pass_one(memory);
  } else if (memory->rank == 0) {
    MPI_Reduce_local(memory->data, memory->result, doubles, MPI_DOUBLE, MPI_SUM);
  }
}

// Seconds per call, measured by rank 0.
static double time_batch(const Measurement* what, Memory* memory, int calls) {
  memory->spent = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (int i = 0; i < calls; ++i) do_once(what, memory, i);
  const double ended = MPI_Wtime();
  return (strcmp(what->name, "send") == 0 ? memory->spent : ended - began) / calls;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

// Distributes rank 0's decision, so that all ranks make the same number of calls and batches.
static int agree(int number) {
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return number;
}

static double measure(const Measurement* what, Memory* memory) {
  double times[kBatchesMax];
  int calls = 2;
  // The first calls connect to peers and touch their pages.
  time_batch(what, memory, calls);
  // Doubled until a batch is long enough, not computed from a short one: on a busy machine consecutive calls may take a
  // thousand times as long as two.
  for (int grows = 1; grows && calls < kCallsMax;) {
    const double took = calls * time_batch(what, memory, calls);
    grows = agree(took < kBatchSeconds);
    if (grows) calls *= 2;
  }
  int batches = 0;
  for (const double began = MPI_Wtime(); batches < kBatchesMax; ++batches) {
    const double spent = MPI_Wtime() - began;
    const int enough = batches >= kBatchesMin && spent > kMeasureSeconds;
    if (agree(enough || (batches > 0 && spent > kPatienceSeconds))) break;
    times[batches] = time_batch(what, memory, calls);
  }
  qsort(times, (size_t)batches, sizeof times[0], compare);
  // The median of the fastest third.
  return times[batches / 6];
}

// The cost of reading the clock, which each measurement of a single call includes.
static double clock_seconds(void) {
  enum { kLooks = 10000 };
  const double began = MPI_Wtime();
  double last = began;
  for (int i = 0; i < kLooks; ++i) last = MPI_Wtime();
  return (last - began) / kLooks;
}

static Measurement parse(const char* word) {
  Measurement what = {"", 0};
  const size_t length = strcspn(word, ":");
  if (length < kNameMax) memcpy(what.name, word, length);
  what.bytes = word[length] == ':' ? atoi(word + length + 1) : 0;
  static const char* const kKnown[] = {"bcast", "allreduce", "barrier", "window", "send", "combine", "pass", "stream"};
  for (size_t i = 0; i < sizeof kKnown / sizeof kKnown[0]; ++i) {
    if (strcmp(what.name, kKnown[i]) == 0 && what.bytes >= 0) return what;
  }
  fprintf(stderr, "measure: invalid measurement %s\n", word);
  MPI_Abort(MPI_COMM_WORLD, 2);
  exit(2);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Memory memory = {0, NULL, NULL, NULL, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &memory.rank);
  for (int i = 1; i < argc; ++i) {
    const Measurement what = parse(argv[i]);
    const size_t bytes = (size_t)what.bytes + kShortBytes;
    memory.data = calloc(1, bytes);
    memory.result = calloc(1, bytes);
    memory.requests = calloc((size_t)what.bytes + 1, sizeof(MPI_Request));
    if (memory.data == NULL || memory.result == NULL || memory.requests == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    double seconds = measure(&what, &memory);
    if (strcmp(what.name, "send") == 0) seconds -= clock_seconds();
    if (strcmp(what.name, "pass") == 0) seconds /= 2;
    if (strcmp(what.name, "stream") == 0) seconds /= kStream;
    if (memory.rank == 0) printf("%s %d %.4g\n", what.name, what.bytes, seconds);
    free(memory.data);
    free(memory.result);
    free(memory.requests);
  }
  MPI_Finalize();
  return 0;
}
