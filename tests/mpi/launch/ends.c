// Ends in the way that its first argument names: abort CODE RANK, exit CODE RANK, fatal, both CODE (two ranks abort).
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = -1, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* way = argc > 1 ? argv[1] : "";
  const int code = argc > 2 ? atoi(argv[2]) : 0, who = argc > 3 ? atoi(argv[3]) : 0;
  if (strcmp(way, "abort") == 0 && rank == who) {
    MPI_Abort(MPI_COMM_WORLD, code);
    printf("MPI_Abort returned\n");
  }
  if (strcmp(way, "both") == 0) {
    MPI_Abort(MPI_COMM_WORLD, code);
    printf("MPI_Abort returned\n");
  }
  if (strcmp(way, "fatal") == 0 && rank == 0) {
    MPI_Send(&value, 1, MPI_INT, 4711, 1, MPI_COMM_WORLD);
    printf("a send to rank 4711 returned\n");
  }
  if (strcmp(way, "exit") == 0) {
    MPI_Finalize();
    return rank == who ? code : 0;
  }
  // The others wait for a message that never comes: only the launcher can end them.
  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
