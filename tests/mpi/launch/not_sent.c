/* Requests that do not complete normally: a long send whose receiver kills itself ("killed"), a receive and a
   synchronous send that are cancelled ("cancelled"). Two ranks. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kLong = 1 << 22 };

int main(int argc, char** argv) {
  int rank, word = 0;
  char* body = calloc(kLong, 1);
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && strcmp(argv[1], "killed") == 0) {
    if (rank == 0) {
      MPI_Isend(body, kLong, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      sleep(60); /* the launcher ends it */
    }
    MPI_Probe(0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    kill(getpid(), SIGKILL);
  }
  if (rank == 0) {
    MPI_Irecv(&word, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Issend(&word, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  free(body);
  MPI_Finalize();
  return 0;
}
