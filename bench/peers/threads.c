// A benchmark of threads that exchange messages at once, with MPI_THREAD_MULTIPLE: each of a rank's threads sends 8
// bytes to each of the other rank's, and receives from each.
//   threads --mode blocking|nonblocking|probed [--sizes THREADS,...] [--seconds S]
// Lines: "threads_MODE THREADS VALUE us", of one such round. No rank is pinned: a rank's threads share the machine.
//   blocking     MPI_Send to each, MPI_Recv from each
//   nonblocking  MPI_Irecv and MPI_Isend for each, one MPI_Waitall
//   probed       MPI_Isend to each, MPI_Probe and MPI_Recv from each
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "mpi_common.h"

enum { kThreadsMax = 16 };

struct Threads;
typedef void (*Round)(const struct Threads* t, int me, const long* out, long* in);

struct Threads {
  int peer;
  int count;
  Round round;
  long rounds;
};

struct Worker {
  const struct Threads* all;
  int index;
  pthread_t thread;
};

static int tag_of(const struct Threads* t, int from, int to) {
  return from * t->count + to;
}

static void start_sends(const struct Threads* t, int me, const long* out, MPI_Request* requests) {
  for (int to = 0; to < t->count; to++) {
    MPI_Isend(&out[to], 1, MPI_LONG, t->peer, tag_of(t, me, to), MPI_COMM_WORLD, &requests[to]);
  }
}

static void blocking(const struct Threads* t, int me, const long* out, long* in) {
  for (int to = 0; to < t->count; to++) {
    MPI_Send(&out[to], 1, MPI_LONG, t->peer, tag_of(t, me, to), MPI_COMM_WORLD);
  }
  for (int from = 0; from < t->count; from++) {
    MPI_Recv(&in[from], 1, MPI_LONG, t->peer, tag_of(t, from, me), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void nonblocking(const struct Threads* t, int me, const long* out, long* in) {
  MPI_Request requests[2 * kThreadsMax];
  for (int from = 0; from < t->count; from++) {
    MPI_Irecv(&in[from], 1, MPI_LONG, t->peer, tag_of(t, from, me), MPI_COMM_WORLD, &requests[t->count + from]);
  }
  start_sends(t, me, out, requests);
  MPI_Waitall(2 * t->count, requests, MPI_STATUSES_IGNORE);
}

static void probed(const struct Threads* t, int me, const long* out, long* in) {
  MPI_Request requests[kThreadsMax];
  start_sends(t, me, out, requests);
  for (int from = 0; from < t->count; from++) {
    MPI_Status status;
    MPI_Probe(t->peer, tag_of(t, from, me), MPI_COMM_WORLD, &status);
    MPI_Recv(&in[from], 1, MPI_LONG, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(t->count, requests, MPI_STATUSES_IGNORE);
}

static void* work(void* argument) {
  const struct Worker* worker = argument;
  const struct Threads* t = worker->all;
  long out[kThreadsMax], in[kThreadsMax];
  for (long i = 0; i < t->rounds; i++) {
    for (int k = 0; k < t->count; k++) out[k] = i * kThreadsMax + worker->index;
    t->round(t, worker->index, out, in);
    for (int k = 0; k < t->count; k++) {
      if (in[k] != i * kThreadsMax + k) fail("a thread got another one's message");
    }
  }
  return NULL;
}

static double rounds(void* state, long count) {
  struct Threads* t = state;
  struct Worker workers[kThreadsMax];
  t->rounds = count;
  const double start = now_s();
  for (int i = 0; i < t->count; i++) {
    workers[i] = (struct Worker){.all = t, .index = i};
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) fail("pthread_create");
  }
  for (int i = 0; i < t->count; i++) pthread_join(workers[i].thread, NULL);
  return now_s() - start;
}

int main(int argc, char** argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) fail("no MPI_THREAD_MULTIPLE");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  struct Options options = {.mode = "blocking", .sizes = {4}, .size_count = 1, .seconds = 0.1};
  read_options(argc, argv, &options);
  for (int i = 0; i < options.size_count; i++) {
    if (options.sizes[i] < 1 || options.sizes[i] > kThreadsMax) fail("a wrong number of threads");
    struct Threads t = {.peer = 1 - rank, .count = (int)options.sizes[i], .round = blocking};
    if (strcmp(options.mode, "nonblocking") == 0) t.round = nonblocking;
    if (strcmp(options.mode, "probed") == 0) t.round = probed;
    const double step = time_of_step(rounds, &t, options.seconds, agree_on);
    char name[32];
    snprintf(name, sizeof name, "threads_%s", options.mode);
    if (rank == 0) report(name, options.sizes[i], step * 1e6, "us");
  }
  MPI_Finalize();
  return 0;
}
