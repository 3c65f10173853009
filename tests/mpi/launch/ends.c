// A program that ends as its first argument states: abort CODE RANK, self CODE RANK and dup CODE RANK (abort on
// MPI_COMM_SELF, on a duplicate), null CODE RANK and rubbish CODE RANK (on an invalid communicator), wrong_level, exit
// CODE RANK, fatal, errors_abort, both CODE (two ranks abort), before and after (a wrong call before MPI_Init, a call
// after MPI_Finalize), late_thread (the latter by a second thread, which has called MPI before), finalize_fails and
// out_of_step (an earlier call failed on one rank only, so the ranks disagree).
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t steps;

static void* call_early_and_late(void* rank) {
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  pthread_barrier_wait(&steps);
  pthread_barrier_wait(&steps);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  printf("a call after MPI_Finalize returned\n");
  return NULL;
}

static void end_with_a_late_thread(void) {
  int rank = -1;
  pthread_t thread;
  pthread_barrier_init(&steps, NULL, 2);
  pthread_create(&thread, NULL, call_early_and_late, &rank);
  pthread_barrier_wait(&steps);
  MPI_Finalize();
  pthread_barrier_wait(&steps);
  pthread_join(thread, NULL);
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  if (strcmp(way, "wrong_level") == 0) MPI_Init_thread(&argc, &argv, 99, &argc);
  if (strcmp(way, "before") == 0) MPI_Info_set(MPI_INFO_NULL, "key", "value");
  int rank = -1, value = 0;
  MPI_Init_thread(&argc, &argv, strcmp(way, "late_thread") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &value);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int code = argc > 2 ? atoi(argv[2]) : 0, who = argc > 3 ? atoi(argv[3]) : 0;
  MPI_Comm on = strcmp(way, "self") == 0 ? MPI_COMM_SELF : MPI_COMM_WORLD;
  if (strcmp(way, "null") == 0) on = MPI_COMM_NULL;
  if (strcmp(way, "rubbish") == 0) on = (MPI_Comm)0x12345;
  if (strcmp(way, "dup") == 0) MPI_Comm_dup(MPI_COMM_WORLD, &on);
  if ((strcmp(way, "abort") == 0 || on != MPI_COMM_WORLD) && rank == who) {
    MPI_Abort(on, code);
    printf("MPI_Abort returned\n");
  }
  if (strcmp(way, "errors_abort") == 0) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
  if (strcmp(way, "both") == 0) {
    MPI_Abort(MPI_COMM_WORLD, code);
    printf("MPI_Abort returned\n");
  }
  if ((strcmp(way, "fatal") == 0 || strcmp(way, "errors_abort") == 0) && rank == 0) {
    MPI_Send(&value, 1, MPI_INT, 4711, 1, MPI_COMM_WORLD);
    printf("a send to rank 4711 returned\n");
  }
  if (strcmp(way, "late_thread") == 0) end_with_a_late_thread();
  if (strcmp(way, "finalize_fails") == 0) {
    MPI_Comm part;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? -7 : 0, 0, &part);
    return MPI_Finalize() == MPI_SUCCESS;
  }
  if (strcmp(way, "out_of_step") == 0) {
    int sum = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Allreduce(&value, rank == 0 ? &value : &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Finalize() == MPI_SUCCESS;
  }
  if (strcmp(way, "exit") == 0) {
    MPI_Finalize();
    return rank == who ? code : 0;
  }
  if (strcmp(way, "after") == 0) {
    MPI_Finalize();
    MPI_Comm_size(MPI_COMM_WORLD, &value);
    printf("a call after MPI_Finalize returned\n");
    return 0;
  }
  // The others wait for a message that is never sent: only the launcher can end them.
  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
