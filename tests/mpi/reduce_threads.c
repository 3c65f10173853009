// Tests with MPI_THREAD_MULTIPLE: reductions on two communicators at once, by a thread each. One rank passes another
// amount of data in the calls of one thread, which get errors; those of the other thread return the right results.
// ranks: 4
// reference: none, ranks that name different amounts of data are not allowed
// wires: shm epoll
#include <pthread.h>

#include "check.h"

enum { kRounds = 200 };

static void* reduce_wrongly(void* comm) {
  const int rank = world_rank();
  int in[2] = {1, 1}, out[2];
  for (int i = 0; i < kRounds; ++i) MPI_Reduce(in, out, rank == 3 ? 2 : 1, MPI_INT, MPI_SUM, 0, *(MPI_Comm*)comm);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = -1, failures = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const int rank = world_rank();
  size = world_size();
  MPI_Comm wrong, right;
  MPI_Comm_dup(MPI_COMM_WORLD, &wrong);
  MPI_Comm_dup(MPI_COMM_WORLD, &right);
  MPI_Comm_set_errhandler(wrong, MPI_ERRORS_RETURN);
  pthread_t thread;
  pthread_create(&thread, NULL, reduce_wrongly, &wrong);
  for (int i = 0; i < kRounds; ++i) {
    int in = rank + i, sum = 0;
    if (MPI_Reduce(&in, &sum, 1, MPI_INT, MPI_SUM, 0, right) != MPI_SUCCESS) ++failures;
    if (rank == 0 && sum != size * (size - 1) / 2 + size * i) ++failures;
  }
  pthread_join(thread, NULL);
  CHECK(failures == 0, "%d failures", failures);
  MPI_Comm_free(&wrong);
  MPI_Comm_free(&right);
  return suite_end("reduce_threads");
}
