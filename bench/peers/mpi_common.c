#include "mpi_common.h"

// After MPI_Init, because before it a library would see one processor per rank and choose to yield while it waits.
struct World begin(int* argc, char*** argv, int ranks) {
  struct World world;
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  if (ranks != 0 && world.size != ranks) fail("started with a wrong number of ranks");
  if (world.size <= processors()) pin_to(world.rank);
  return world;
}

long agree_on(long value) {
  MPI_Bcast(&value, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return value;
}

double until_all_ended(double start) {
  const double mine[2] = {now_s(), -start};
  double last[2];
  MPI_Allreduce(mine, last, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return last[0] + last[1];
}
