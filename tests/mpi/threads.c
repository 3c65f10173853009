// Tests with MPI_THREAD_MULTIPLE: several threads of a rank send, receive, probe and wait at once, on one communicator
// and on their own.
// ranks: 1 2 3
// reference: 2
// timeout: 90
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kRounds = 60, kLargest = 40000, kSharedTag = 1000 };

struct Worker {
  int index;
  int failures;  // counted here, as check.h's counter is the main thread's
  MPI_Comm comm;
  pthread_t thread;
};

static int bytes_of(int thread, int round) {
  static const int kBytes[] = {0, 8, 41, 3000, 16385, kLargest};
  return kBytes[(thread + round) % 6];
}

// Thread i of each rank exchanges messages with thread i of its neighbours. The threads are distinguished by the tag,
// on the world, or by a communicator for each.
static void ring(struct Worker* worker, MPI_Comm comm, int tag) {
  int rank = -1, size = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  unsigned char* out = memory_of(kLargest);
  unsigned char* in = memory_of(kLargest);
  for (int round = 0; round < kRounds; ++round) {
    const int bytes = bytes_of(worker->index, round);
    MPI_Request requests[2];
    MPI_Status statuses[2], probed;
    int count = -1;
    pattern_fill(out, (size_t)bytes, (unsigned)(round + 100 * rank + worker->index));
    if (round % 3 == 0) {
      MPI_Irecv(in, bytes, MPI_BYTE, from, tag, comm, &requests[0]);
      MPI_Issend(out, bytes, MPI_BYTE, to, tag, comm, &requests[1]);
      MPI_Waitall(2, requests, statuses);
    } else if (round % 3 == 1) {
      MPI_Isend(out, bytes, MPI_BYTE, to, tag, comm, &requests[1]);
      MPI_Probe(from, tag, comm, &probed);
      MPI_Recv(in, bytes, MPI_BYTE, from, tag, comm, &statuses[0]);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    } else {
      MPI_Sendrecv(out, bytes, MPI_BYTE, to, tag, in, bytes, MPI_BYTE, from, tag, comm, &statuses[0]);
    }
    MPI_Get_count(&statuses[0], MPI_BYTE, &count);
    if (count != bytes) ++worker->failures;
    if (pattern_mismatch(in, (size_t)bytes, (unsigned)(round + 100 * from + worker->index)) != (size_t)bytes)
      ++worker->failures;
  }
  free(out);
  free(in);
}

// All threads receive from one stream of messages with the same envelope: each message reaches exactly one of them.
static void shared_stream(struct Worker* worker) {
  const int rank = world_rank(), size = world_size();
  long sum = 0, expected = 0, in = 0;
  MPI_Request requests[kRounds];
  long out[kRounds];
  for (int i = 0; i < kRounds; ++i) {
    out[i] = worker->index * kRounds + i;
    MPI_Isend(&out[i], 1, MPI_LONG, (rank + 1) % size, kSharedTag, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < kRounds; ++i) {
    MPI_Recv(&in, 1, MPI_LONG, MPI_ANY_SOURCE, kSharedTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += in;
  }
  MPI_Waitall(kRounds, requests, MPI_STATUSES_IGNORE);
  // Thread 0 adds the sums of the rank's other threads, which these send to the rank itself on the world. The total is
  // 0 + 1 + … + threads × rounds − 1.
  if (worker->index != 0) {
    MPI_Send(&sum, 1, MPI_LONG, rank, 5 + worker->index, MPI_COMM_WORLD);
    return;
  }
  for (int i = 1; i < kThreads; ++i) {
    MPI_Recv(&in, 1, MPI_LONG, rank, 5 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += in;
  }
  for (int i = 0; i < kThreads * kRounds; ++i) expected += i;
  if (sum != expected) ++worker->failures;
}

// Collectives at once, each thread on its own communicator.
static void collectives(struct Worker* worker) {
  int rank = -1, size = -1;
  MPI_Comm_rank(worker->comm, &rank);
  MPI_Comm_size(worker->comm, &size);
  for (int i = 0; i < 10; ++i) {
    int sum = 0, value = rank + i + worker->index;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, worker->comm);
    if (sum != size * (size - 1) / 2 + size * (i + worker->index)) ++worker->failures;
    MPI_Barrier(worker->comm);
  }
}

static void* work(void* argument) {
  struct Worker* worker = argument;
  ring(worker, MPI_COMM_WORLD, worker->index);
  ring(worker, worker->comm, 0);
  collectives(worker);
  shared_stream(worker);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = -1, queried = -1, is_main = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE, "provided %d", provided);
  MPI_Query_thread(&queried);
  CHECK(queried == provided, "Query_thread says %d", queried);
  MPI_Is_thread_main(&is_main);
  CHECK(is_main, "main is not the main thread");
  struct Worker workers[kThreads];
  memset(workers, 0, sizeof workers);
  for (int i = 0; i < kThreads; ++i) {
    workers[i].index = i;
    MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
  }
  for (int i = 0; i < kThreads; ++i) pthread_create(&workers[i].thread, NULL, work, &workers[i]);
  for (int i = 0; i < kThreads; ++i) pthread_join(workers[i].thread, NULL);
  for (int i = 0; i < kThreads; ++i) {
    CHECK(workers[i].failures == 0, "thread %d: %d failures", i, workers[i].failures);
    MPI_Comm_free(&workers[i].comm);
  }
  return suite_end("threads");
}
