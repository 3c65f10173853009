// Rank 0 sends 10 messages of 100 doubles to each other rank; the profiling tool's counts are known from that.
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = -1, size = -1;
  double values[100] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 10; ++i) {
    if (rank != 0) MPI_Recv(values, 100, MPI_DOUBLE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int to = 1; rank == 0 && to < size; ++to) MPI_Send(values, 100, MPI_DOUBLE, to, i, MPI_COMM_WORLD);
  }
  // These must not count: a tool that respects MPI_Pcontrol is off meanwhile. Without a tool the calls do nothing.
  MPI_Pcontrol(0);
  if (rank == 0 && size > 1) MPI_Send(values, 1, MPI_DOUBLE, 1, 99, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(values, 1, MPI_DOUBLE, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Pcontrol(1);
  MPI_Pcontrol(2, "with", "more");
  // The collectives' own messages must not appear in the tool: they do not pass through MPI_Send.
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
