// A rank sends to a rank that is busy. docs/first_trace.md explains its trace.
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { kNumbers = 100000, kTag = 7, kBusyUs = 5000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double* row = calloc(kNumbers, sizeof *row);
  if (rank == 0) MPI_Send(row, kNumbers, MPI_DOUBLE, 1, kTag, MPI_COMM_WORLD);
  if (rank == 1) {
    usleep(kBusyUs);
    MPI_Recv(row, kNumbers, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  free(row);
  MPI_Finalize();
  return 0;
}
