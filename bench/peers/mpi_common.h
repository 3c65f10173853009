// What the MPI benchmark programs share: plain MPI-3 that every implementation compiles.
#ifndef MARGAY_BENCH_PEERS_MPI_COMMON_H
#define MARGAY_BENCH_PEERS_MPI_COMMON_H

#include <mpi.h>

#include "common.h"

struct World {
  int rank;
  int size;
};

// MPI_Init. `ranks` is how many the program is for; 0: any number. With no more ranks than processors each gets its
// own, the same one under every MPI; with more nobody is pinned.
struct World begin(int* argc, char*** argv, int ranks);

// An Agree for time_of_step: all ranks are there when it returns.
long agree_on(long value);

// For a Step: the seconds from when the first rank started, at `start`, until all have ended. The ranks are processes
// of one machine, and so have one clock. Rank 0's own seconds would not do for an operation in which it only sends: it
// runs ahead.
double until_all_ended(double start);

#endif
