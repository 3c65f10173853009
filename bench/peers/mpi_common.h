// The common part of the MPI benchmark programs: plain MPI-3 that every implementation compiles.
#ifndef MARGAY_BENCH_PEERS_MPI_COMMON_H
#define MARGAY_BENCH_PEERS_MPI_COMMON_H

#include <mpi.h>

#include "common.h"

struct World {
  int rank;
  int size;
};

// Calls MPI_Init. `ranks` is the number for which the program is written; 0: any. With no more ranks than processors
// each rank is pinned to its own, the same one under every MPI; with more ranks none is pinned.
struct World begin(int* argc, char*** argv, int ranks);

// An Agree for time_of_step: all ranks are there when it returns.
long agree_on(long value);

// For a Step: the seconds from the start of the first rank, at `start`, to the end of the last. The ranks are processes
// of one machine, and so have one clock. Rank 0's own seconds would be wrong for an operation in which it only sends,
// because it runs ahead.
double until_all_ended(double start);

#endif
