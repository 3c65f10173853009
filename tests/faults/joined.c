// A test of a second thread that joins MPI while the first is asleep in the kernel, alone on its node. The first one's
// system call never times out here, and no timer ticks, so only a wake-up ends it. The program's own functions replace
// these system calls of the library.
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

static atomic_int watched;
static atomic_int asleep;

int poll(struct pollfd* descriptors, nfds_t count, int timeout_ms) {
  if (watched && timeout_ms != 0) {
    asleep = 1;
    timeout_ms = -1;
  }
  return (int)syscall(SYS_poll, descriptors, count, timeout_ms);
}

int timerfd_settime(int timer, int flags, const struct itimerspec* time, struct itimerspec* before) {
  (void)timer, (void)flags, (void)time, (void)before;
  return 0;
}

// Joins beside the main thread, and only then lets the other rank send the message for which that thread waits.
static void* join(void* other_rank) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  while (!asleep) usleep(1000);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  MPI_Group_free(&group);
  kill(*(pid_t*)other_rank, SIGUSR1);
  MPI_Session_finalize(&session);
  return NULL;
}

int main(int argc, char** argv) {
  int rank = -1;
  int provided = -1;
  int go = 0;
  sigset_t asked;
  sigemptyset(&asked);
  sigaddset(&asked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &asked, NULL);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    pthread_t thread;
    int other = 0;
    MPI_Recv(&other, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pid_t other_rank = other;
    watched = 1;
    pthread_create(&thread, NULL, join, &other_rank);
    MPI_Recv(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    watched = 0;
    pthread_join(thread, NULL);
  } else {
    int me = getpid();
    int got = 0;
    MPI_Send(&me, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    sigwait(&asked, &got);
    MPI_Send(&me, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
