// Times of a simulated run: times ping_pong | sleep | barriers
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kRounds = 100 };

static void ping_pong(int rank) {
  char byte = 0;
  double began = 0;
  for (int i = 0; i < 2 * kRounds; ++i) {
    if (i == kRounds) began = MPI_Wtime();
    if (rank == 0) {
      MPI_Send(&byte, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(&byte, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) printf("one way %.2f us\n", (MPI_Wtime() - began) * 1e6 / (2 * kRounds));
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(argv[1], "ping_pong") == 0) {
    ping_pong(rank);
  } else if (strcmp(argv[1], "sleep") == 0) {
    if (rank == 1) sleep(3600);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    for (int i = 0; i < kRounds; ++i) MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
