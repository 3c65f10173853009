// A benchmark of a barrier and an allreduce of 8 bytes, on any number of ranks.
//   collectives [--mode barrier|allreduce] [--seconds S]
// Lines: "barrier RANKS VALUE us", "allreduce RANKS VALUE us".
#include <string.h>

#include "mpi_common.h"

static double barriers(void* state, long count) {
  (void)state;
  const double start = now_s();
  for (long i = 0; i < count; i++) MPI_Barrier(MPI_COMM_WORLD);
  return now_s() - start;
}

static double allreduces(void* state, long count) {
  const struct World* world = state;
  const double start = now_s();
  for (long i = 0; i < count; i++) {
    const long mine = world->rank + i;
    long sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    const long ranks = world->size;
    if (sum != ranks * (ranks - 1) / 2 + ranks * i) fail("allreduce gave a wrong sum");
  }
  return now_s() - start;
}

// The last rank is late: no rank may leave before its arrival. CLOCK_MONOTONIC is one clock for a whole machine.
static void check_barrier(const struct World* world) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world->rank == world->size - 1) nap(5);
  const double came = now_s();
  MPI_Barrier(MPI_COMM_WORLD);
  const double left = now_s();
  double last_came = 0, first_left = 0;
  MPI_Allreduce(&came, &last_came, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&left, &first_left, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  if (first_left < last_came) fail("a rank left the barrier before the last one came");
}

int main(int argc, char** argv) {
  struct World world = begin(&argc, &argv, 0);
  struct Options options = {.mode = "barrier", .seconds = 0.2};
  read_options(argc, argv, &options);
  const int barrier = strcmp(options.mode, "barrier") == 0;
  if (barrier) check_barrier(&world);
  const double step = time_of_step(barrier ? barriers : allreduces, &world, options.seconds, agree_on);
  if (world.rank == 0) report(options.mode, world.size, step * 1e6, "us");
  MPI_Finalize();
  return 0;
}
