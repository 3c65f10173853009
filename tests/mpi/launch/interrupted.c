// A signal handler that ends the process during an MPI call in its thread: "abort" or "exit", at the thread level of
// the second argument (0 to 3); third argument: the call "moves" the body or "waits".
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static int aborts;

static void end(int signal_number) {
  (void)signal_number;
  if (aborts) MPI_Abort(MPI_COMM_WORLD, 7);
  exit(7);
}

int main(int argc, char** argv) {
  int provided, rank, value = 0;
  if (argc < 4) return 1;
  aborts = strcmp(argv[1], "abort") == 0;
  MPI_Init_thread(&argc, &argv, atoi(argv[2]), &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  signal(SIGSEGV, end);
  signal(SIGALRM, end);
  if (rank == 1 && strcmp(argv[3], "moves") == 0) {
    MPI_Send((void*)16, 64, MPI_CHAR, 0, 0, MPI_COMM_WORLD);  // an invalid address: the call faults inside the library
  } else if (rank == 1) {
    const struct itimerval soon = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_REAL, &soon, NULL);
  }
  MPI_Recv(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // the message is never sent
  MPI_Finalize();
  return 0;
}
