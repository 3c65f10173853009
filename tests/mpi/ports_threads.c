// Tests of ports with several threads: each thread of rank 0 accepts at a port of its own while the threads of the
// other ranks connect; and one thread closes the port at which another waits.
// ranks: 2 4
// reference: none: Debian's MPICH has no ports with UCX
// libraries: -pthread
#include <pthread.h>
#include <sched.h>

#include "check.h"

enum { kThreads = 3, kRounds = 10, kTag = 5 };

static char ports[kThreads][MPI_MAX_PORT_NAME];
static int failures[kThreads];

// One message each way on a new connection; the thread's number travels with it.
static int talk(MPI_Comm inter, int thread) {
  int theirs = -1;
  MPI_Sendrecv(&thread, 1, MPI_INT, 0, kTag, &theirs, 1, MPI_INT, 0, kTag, inter, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&inter);
  return theirs != thread;
}

static void* run(void* argument) {
  const int thread = (int)(size_t)argument;
  MPI_Comm inter;
  for (int round = 0; round < kRounds; ++round) {
    if (world_rank() != 0) {
      MPI_Comm_connect(ports[thread], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
      failures[thread] += talk(inter, thread);
      continue;
    }
    for (int i = 1; i < world_size(); ++i) {
      MPI_Comm_accept(ports[thread], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
      failures[thread] += talk(inter, thread);
    }
  }
  return NULL;
}

static void* accept_until_closed(void* argument) {
  MPI_Comm inter;
  *(int*)argument = class_of(MPI_Comm_accept(ports[0], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
  return NULL;
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  CHECK(level == MPI_THREAD_MULTIPLE, "level %d", level);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int i = 0; world_rank() == 0 && i < kThreads; ++i) MPI_Open_port(MPI_INFO_NULL, ports[i]);
  MPI_Bcast(ports, sizeof ports, MPI_CHAR, 0, MPI_COMM_WORLD);
  pthread_t threads[kThreads];
  for (size_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, run, (void*)i);
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    CHECK(failures[i] == 0, "thread %d: %d wrong messages", i, failures[i]);
  }
  if (world_rank() == 0) {
    int class = -1;
    pthread_create(&threads[0], NULL, accept_until_closed, &class);
    sched_yield();
    CHECK(MPI_Close_port(ports[0]) == MPI_SUCCESS, "the port does not close");
    pthread_join(threads[0], NULL);
    CHECK(class == MPI_ERR_PORT, "accept at a port that closes: class %d", class);
    for (int i = 1; i < kThreads; ++i) MPI_Close_port(ports[i]);
  }
  return suite_end("ports_threads");
}
