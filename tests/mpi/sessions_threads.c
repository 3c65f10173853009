// ranks: 1 2 4
// reference: none (MPICH 4.0 takes communicators of groups from one thread at a time)
// timeout: 30
// libraries: -pthread
// Tests of sessions in threads, in a process that never calls MPI_Init: each thread has its own sessions, and
// communicators that only the tag distinguishes, created at the same time and in a different order on each process.
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kLives = 6 };

static int failures[kThreads], ranks[kThreads];

static int life(int thread, int life) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  char tag[32];
  int size = 0, lowest = -1, highest = -1, mine = 100 * thread + life, failed = 0;
  snprintf(tag, sizeof tag, "thread %d", thread);
  failed += MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS;
  failed += MPI_Group_from_session_pset(session, "mpi://WORLD", &group) != MPI_SUCCESS;
  MPI_Group_rank(group, &ranks[thread]);
  failed += MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) != MPI_SUCCESS;
  MPI_Group_free(&group);
  MPI_Comm_size(comm, &size);
  // Two confused communicators would deliver the other's number.
  MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm);
  MPI_Allreduce(&mine, &highest, 1, MPI_INT, MPI_MAX, comm);
  failed += lowest != mine || highest != mine;
  MPI_Comm_free(&comm);
  failed += MPI_Session_finalize(&session) != MPI_SUCCESS;
  return failed;
}

static void* lives(void* number) {
  const int thread = *(const int*)number;
  for (int i = 0; i < kLives; ++i) failures[thread] += life(thread, i);
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  int numbers[kThreads], failed = 0, flag = -1;
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = (i + (int)getpid()) % kThreads;
    pthread_create(&threads[i], NULL, &lives, &numbers[i]);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) failed += failures[i];
  MPI_Initialized(&flag);
  failed += flag != 0;
  if (failed != 0) fprintf(stderr, "rank %d: %d failed checks\n", ranks[0], failed);
  if (ranks[0] == 0) printf("sessions_threads: %s\n", failed == 0 ? "no errors" : "errors");
  return failed != 0;
}
