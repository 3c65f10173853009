// A process that calls exit() while MPI is at work: "threads": in one thread, while others begin and end sessions;
// "signal": in a handler, whatever call of MPI's the signal came in.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* begin_and_end(void* nothing) {
  for (;;) {
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_finalize(&session);
  }
  return nothing;
}

static void leave(int number) {
  (void)number;
  exit(3);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "threads") == 0) {
    pthread_t thread;
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    for (int i = 0; i < 2; ++i) pthread_create(&thread, NULL, begin_and_end, NULL);
    usleep(3000 + getpid() % 1000);
    exit(3);
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  signal(SIGALRM, leave);
  ualarm(1000 + getpid() * 7919 % 3000, 0);
  for (int flag = 0;;) MPI_Iprobe(0, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}
