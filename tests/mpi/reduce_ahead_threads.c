// A test of a thread of rank 1 that runs ahead in MPI_Reduce. The root takes part only after it has received a message
// of rank 1's other thread, which must not be held behind the reductions' messages.
// ranks: 2
// wires: shm epoll
// timeout: 60
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { kCalls = 1500, kInts = 4096 };  // 16 KiB each: the longest data that is sent without a handshake

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

// Waits until the other thread makes no more progress. If it returns too early, the test passes, but covers less.
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
