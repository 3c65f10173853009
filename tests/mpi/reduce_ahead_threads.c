// A thread that runs ahead in MPI_Reduce, of a root that waits for another thread's message before it takes part: the
// message comes through.
// ranks: 2
// wires: shm epoll
// timeout: 60
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { kCalls = 1500, kInts = 4096 };  // 16 KiB each: the longest that is sent before it is asked for

static _Atomic int calls_made;

static void* reduce_ahead(void* comm) {
  int* in = memory_of(kInts * sizeof(int));
  int* out = memory_of(kInts * sizeof(int));
  for (int i = 0; i < kInts; ++i) in[i] = i;
  for (int i = 0; i < kCalls; ++i) {
    MPI_Reduce(in, out, kInts, MPI_INT, MPI_SUM, 0, *(MPI_Comm*)comm);
    CHECK(world_rank() != 0 || out[kInts - 1] == (kInts - 1) * world_size(), "call %d: wrong sum", i);
    ++calls_made;
  }
  free(in);
  free(out);
  return NULL;
}

// Until the other thread is as far ahead as it gets. Too soon does no harm: then less is shown.
static void let_it_run(void) {
  for (int before = -1; before != calls_made;) {
    before = calls_made;
    usleep(50000);
  }
}

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm ahead;
  MPI_Comm_dup(MPI_COMM_WORLD, &ahead);
  MPI_Barrier(ahead);
  pthread_t thread;
  int word = 0;
  if (world_rank() == 0) {
    MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(word == 17, "received %d", word);
    reduce_ahead(&ahead);
  } else {
    pthread_create(&thread, NULL, reduce_ahead, &ahead);
    let_it_run();
    word = 17;
    MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
  }
  MPI_Comm_free(&ahead);
  return suite_end("reduce_ahead_threads");
}
