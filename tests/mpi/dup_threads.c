// Tests with MPI_THREAD_MULTIPLE: threads duplicate, split, create and free communicators at once, in different order
// on different ranks. Each agreement on a context must end, and no two may yield the same context.
// ranks: 1 2 3
// reference: 2
// timeout: 90
#include <pthread.h>

#include "check.h"

enum { kThreads = 3, kRounds = 40 };

static MPI_Comm parents[kThreads];
static int failures[kThreads];

static void* work(void* argument) {
  const int self = (int)(long)argument;
  int rank = -1, size = -1;
  MPI_Comm_rank(parents[self], &rank);
  MPI_Comm_size(parents[self], &size);
  const int everything = on_margay();  // MPICH 4.0.2 crashes if threads call MPI_Comm_create_group at once
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm made = MPI_COMM_NULL;
    if ((round + self) % 3 == 0) {
      MPI_Comm_split(parents[self], 0, size - rank, &made);
    } else if (everything && (round + self) % 3 == 1) {
      // The tag distinguishes the threads' calls on the same communicator.
      MPI_Group group;
      MPI_Comm_group(parents[self], &group);
      MPI_Comm_create_group(MPI_COMM_WORLD, group, self, &made);
      MPI_Group_free(&group);
    } else if (everything && (round + self) % 2 == 0) {
      MPI_Request request;
      MPI_Comm_idup(parents[self], &made, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Comm_dup(parents[self], &made);
    }
    // A context shared with another thread's communicator would mix these up.
    int sum = -1;
    const int mine = 1000 * self + rank;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, made);
    if (sum != 1000 * self * size + size * (size - 1) / 2) ++failures[self];
    MPI_Comm_free(&made);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE, "level %d", provided);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
  pthread_t threads[kThreads];
  // Ranks start their threads in different orders, so that agreements meet crosswise.
  for (int i = 0; i < kThreads; ++i) {
    const long self = (i + rank) % kThreads;
    pthread_create(&threads[self], NULL, work, (void*)self);
  }
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    CHECK(failures[i] == 0, "thread %d: %d failures", i, failures[i]);
    MPI_Comm_free(&parents[i]);
  }
  return suite_end("dup_threads");
}
