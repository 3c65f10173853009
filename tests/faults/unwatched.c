// A test in which the kernel cannot watch one more descriptor, as at a user's limit: unwatched K makes the K-th
// request of this process fail. The program's own functions replace the system calls of the library.
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refused_one;

int epoll_ctl(int set, int what, int descriptor, struct epoll_event* event) {
  static int added;
  if (what == EPOLL_CTL_ADD && ++added == refused_one) {
    errno = ENOSPC;
    return -1;
  }
  return (int)syscall(SYS_epoll_ctl, set, what, descriptor, event);
}

int main(int argc, char** argv) {
  int rank = -1;
  int value = 0;
  if (argc > 1) refused_one = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
