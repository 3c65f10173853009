// A process that calls exit() during MPI calls: "threads": in one thread, while others begin and end sessions;
// "signal": in a handler, whichever MPI call the signal interrupted; "allocating": in a handler, with a session begun
// after MPI_Finalize, while the program allocates; "making": in a handler, while it creates info objects in a session.
// "writer": MPI_Abort, while another thread keeps standard error locked. "reader": MPI_Abort, while another thread
// reads from a stream, which locks it, and all threads block signals; "reader_later": the same with exit() and a
// session begun after MPI_Finalize.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
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

static void* read_nothing(void* file) {
  fgetc(file);
  return NULL;
}

static void* hold_stderr(void* nothing) {
  flockfile(stderr);
  for (;;) pause();
  return nothing;
}

static void abort_beside_writer(void) {
  pthread_t thread;
  MPI_Init(NULL, NULL);
  pthread_create(&thread, NULL, hold_stderr, NULL);
  usleep(50000);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void leave_beside_reader(int later) {
  int pipes[2];
  pthread_t thread;
  sigset_t all;
  MPI_Session session;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  if (pipe(pipes) != 0) _exit(99);
  MPI_Init(NULL, NULL);
  pthread_create(&thread, NULL, read_nothing, fdopen(pipes[0], "r"));
  usleep(50000);
  if (!later) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Finalize();
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  exit(3);
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
  if (argc > 1 && strcmp(argv[1], "writer") == 0) abort_beside_writer();
  if (argc > 1 && strncmp(argv[1], "reader", 6) == 0) leave_beside_reader(strcmp(argv[1], "reader_later") == 0);
  if (argc > 1 && strcmp(argv[1], "allocating") == 0) {
    MPI_Session session;
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    signal(SIGALRM, leave);
    ualarm(1000 + (unsigned)getpid() * 7919U % 3000, 0);
    for (size_t bytes = 1;; bytes = bytes % 1000 + 1) free(malloc(bytes));
  }
  if (argc > 1 && strcmp(argv[1], "making") == 0) {
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    signal(SIGALRM, leave);
    ualarm(1000 + (unsigned)getpid() * 7919U % 3000, 0);
    for (;;) {
      MPI_Info info;
      MPI_Info_create(&info);
      MPI_Info_free(&info);
    }
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  signal(SIGALRM, leave);
  ualarm(1000 + (unsigned)getpid() * 7919U % 3000, 0);
  for (int flag = 0;;) MPI_Iprobe(0, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}
