// A benchmark of matching with many posted receives.
//   matching --mode front|in_order|last_first [--sizes N,M] [--seconds S]
// Lines: "MODE N VALUE us".
//   front       one-way latency of 8 bytes, behind N posted receives on both sides that do not match
//   in_order    N receives posted, N messages sent, each matches the first that is left: time of one message
//   last_first  the same, each matches the last that is left
#include <stdlib.h>
#include <string.h>

#include "mpi_common.h"

enum { kReady = 1, kDone = 2, kPing = 3, kFirstTag = 100 };

struct Matching {
  int rank;
  int receives;
  int last_first;
  long* values;
  MPI_Request* requests;
};

static void post(struct Matching* m, int source) {
  for (int i = 0; i < m->receives; i++) {
    MPI_Irecv(&m->values[i], 1, MPI_LONG, source, kFirstTag + i, MPI_COMM_WORLD, &m->requests[i]);
  }
}

static void send_all(const struct Matching* m, int target) {
  for (int i = 0; i < m->receives; i++) {
    long value = m->last_first ? m->receives - 1 - i : i;
    MPI_Send(&value, 1, MPI_LONG, target, kFirstTag + (int)value, MPI_COMM_WORLD);
  }
}

static void wait_and_check(struct Matching* m) {
  MPI_Waitall(m->receives, m->requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < m->receives; i++) {
    if (m->values[i] != i) fail("a message matched the wrong receive");
  }
}

// Rounds of N messages. The clock runs from "all are posted" to "all have arrived", so posting does not count.
static double rounds(void* state, long count) {
  struct Matching* m = state;
  double seconds = 0;
  char mark = 0;
  for (long i = 0; i < count; i++) {
    if (m->rank == 1) {
      post(m, 0);
      MPI_Send(&mark, 1, MPI_CHAR, 0, kReady, MPI_COMM_WORLD);
      MPI_Waitall(m->receives, m->requests, MPI_STATUSES_IGNORE);
      MPI_Send(&mark, 1, MPI_CHAR, 0, kDone, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&mark, 1, MPI_CHAR, 1, kReady, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const double start = now_s();
      send_all(m, 1);
      MPI_Recv(&mark, 1, MPI_CHAR, 1, kDone, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      seconds += now_s() - start;
    }
  }
  return seconds;
}

static double pings(void* state, long count) {
  const struct Matching* m = state;
  const int peer = 1 - m->rank;
  long value = 0;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    if (m->rank == 0) MPI_Send(&value, 1, MPI_LONG, peer, kPing, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_LONG, peer, kPing, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (m->rank == 1) MPI_Send(&value, 1, MPI_LONG, peer, kPing, MPI_COMM_WORLD);
  }
  return now_s() - start;
}

static double measure_front(struct Matching* m, double seconds) {
  post(m, 1 - m->rank);
  const double step = time_of_step(pings, m, seconds, agree_on);
  // One side after the other: a rank must not send to a peer that only sends.
  if (m->rank == 0) send_all(m, 1);
  wait_and_check(m);
  if (m->rank == 1) send_all(m, 0);
  return step / 2;
}

int main(int argc, char** argv) {
  const struct World world = begin(&argc, &argv, 2);
  struct Options options = {.mode = "last_first", .sizes = {1000}, .size_count = 1, .seconds = 0.1};
  read_options(argc, argv, &options);
  for (int i = 0; i < options.size_count; i++) {
    const size_t receives = (size_t)options.sizes[i];
    struct Matching m = {.rank = world.rank, .receives = (int)receives};
    m.last_first = strcmp(options.mode, "last_first") == 0;
    m.values = (long*)new_buffer(receives * sizeof(long));
    m.requests = (MPI_Request*)new_buffer(receives * sizeof(MPI_Request));
    double step = 0;
    if (strcmp(options.mode, "front") == 0) {
      step = measure_front(&m, options.seconds);
    } else {
      step = time_of_step(rounds, &m, options.seconds, agree_on) / (double)receives;
      for (size_t k = 0; world.rank == 1 && k < receives; k++) {
        if (m.values[k] != (long)k) fail("a message matched the wrong receive");
      }
    }
    if (world.rank == 0) report(options.mode, options.sizes[i], step * 1e6, "us");
    free(m.values);
    free(m.requests);
  }
  MPI_Finalize();
  return 0;
}
