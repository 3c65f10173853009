// The ends of ranks: ends usual | status | abort | deadlock | without_finalize | segv | uncaught | fork | thread
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* return_at_once(void* argument) {
  return argument;
}

int main(int argc, char** argv) {
  int rank = 0, size = 0, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const what = argv[1];
  printf("partial line");
  if (strcmp(what, "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 9);
  if (strcmp(what, "without_finalize") == 0 && rank == 1) exit(5);
  if (strcmp(what, "fork") == 0 && rank == 1) fork();
  if (strcmp(what, "segv") == 0 && rank == 1) *(volatile int*)strchr(what, 'x') = 0;  // a null pointer
  if (strcmp(what, "uncaught") == 0 && rank == 1) abort();
  if (strcmp(what, "thread") == 0 && rank == 1) {
    pthread_t thread;
    pthread_create(&thread, NULL, return_at_once, NULL);
  }
  if (strcmp(what, "deadlock") == 0) {
    MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return strcmp(what, "status") == 0 && rank == 2 ? 7 : 0;
}
