// ranks: 2 4
// timeout: 30
// reference: none, MPICH's process crashes
// A test of another thread's session that ends during MPI_Finalize, which is then the last user of MPI. A buffered send
// is complete by then, but its slot in the buffer has not been examined since.
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "check.h"

enum { kBytes = 300000 };
static char data[kBytes], attached[2 * kBytes];
static atomic_int begun, finalizing;

static long us_since(const struct timespec* from) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - from->tv_sec) * 1000000 + (now.tv_nsec - from->tv_nsec) / 1000;
}

static void* end_session(void* nothing) {
  MPI_Session session;
  struct timespec from;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  atomic_store(&begun, 1);
  while (!atomic_load(&finalizing)) continue;
  clock_gettime(CLOCK_MONOTONIC, &from);
  const long wait_us = 20L << getpid() % 8;
  while (us_since(&from) < wait_us) continue;
  MPI_Session_finalize(&session);
  return nothing;
}

int main(int argc, char** argv) {
  pthread_t thread;
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const int rank = world_rank();
  MPI_Buffer_attach(attached, sizeof attached);
  if (rank == 0) {
    pthread_create(&thread, NULL, end_session, NULL);
    while (!atomic_load(&begun)) continue;
    MPI_Bsend(data, kBytes, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
  }
  if (rank == 1) MPI_Recv(data, kBytes, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) printf("sessions_end_buffered_threads: no errors\n");
  fflush(stdout);
  atomic_store(&finalizing, 1);
  MPI_Finalize();
  if (rank == 0) pthread_join(thread, NULL);
  return suite_failures != 0;
}
