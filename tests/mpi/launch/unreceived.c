/* Messages that nobody receives, on the world and on a communicator that is freed; the last is long, and its request is
   freed. Or ("clean") all of them are received. Two ranks. */
#include <mpi.h>
#include <string.h>

static char body[100000];

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Comm other;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  const int clean = argc > 1 && strcmp(argv[1], "clean") == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_set_name(other, "other");
  if (rank == 0) {
    const int four[4] = {1, 2, 3, 4};
    MPI_Send(four, 4, MPI_INT, 1, 7, MPI_COMM_WORLD);
    MPI_Send(body, 10, MPI_BYTE, 1, 8, other);
    MPI_Isend(body, sizeof body, MPI_CHAR, 1, 9, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1 && clean) {
    MPI_Recv(body, 4, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(body, 10, MPI_BYTE, 0, 8, other, MPI_STATUS_IGNORE);
    MPI_Recv(body, sizeof body, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&other);
  MPI_Finalize();
  return 0;
}
