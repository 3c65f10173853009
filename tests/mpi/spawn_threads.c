// Tests of spawns by several threads at once, for more children than the job has places: a thread that waits for a
// place lets the other threads of its process end their children.
// ranks: 2 3
// wires: shm
// reference: none: Debian's MPICH cannot start processes with UCX
// sanitized: none: the children inherit no sanitizer's runtime
// libraries: -pthread
#include <pthread.h>

#include "check.h"

enum { kThreads = 6, kRounds = 4 };

static char* program;
static int failures[kThreads];

static MPI_Comm parent_of(void) {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  return parent;
}

static void* run(void* argument) {
  const int thread = (int)(size_t)argument;
  char mode[] = "child";
  char* arguments[] = {mode, NULL};
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm child = MPI_COMM_NULL;
    int one = 1, sum = 0;
    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, child);
    failures[thread] += sum != 7;
    MPI_Comm_disconnect(&child);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm parent = parent_of();
  if (parent != MPI_COMM_NULL) {
    int seven = 7, sum = 0;
    MPI_Allreduce(&seven, &sum, 1, MPI_INT, MPI_SUM, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return sum != 1;
  }
  CHECK(level == MPI_THREAD_MULTIPLE, "level %d", level);
  program = argv[0];
  pthread_t threads[kThreads];
  for (size_t i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, run, (void*)i);
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    CHECK(failures[i] == 0, "thread %d: %d wrong sums", i, failures[i]);
  }
  return suite_end("spawn_threads");
}
