// A benchmark of neighbourhood collectives on a periodic grid of two dimensions, on any number of ranks.
//   neighbors [--mode alltoall|allgather|ialltoall|iallgather] [--sizes BYTES,...] [--seconds S]
// BYTES: of one block. Lines: "neighbor_MODE_RANKS BYTES VALUE us"; a nonblocking call is followed by MPI_Wait.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_common.h"

enum { kDimensions = 2, kNeighbors = 2 * kDimensions };

struct Grid {
  MPI_Comm comm;
  int rank;
  int sides[kDimensions];
  int neighbors[kNeighbors];  // in the order of blocks: down and up in each dimension
  int alltoall, nonblocking;
  int words;  // of a block
  long* send;
  long* receive;
};

static void exchange(const struct Grid* g) {
  const int n = g->words;
  MPI_Request request = MPI_REQUEST_NULL;
  if (g->nonblocking && g->alltoall) {
    MPI_Ineighbor_alltoall(g->send, n, MPI_LONG, g->receive, n, MPI_LONG, g->comm, &request);
  } else if (g->nonblocking) {
    MPI_Ineighbor_allgather(g->send, n, MPI_LONG, g->receive, n, MPI_LONG, g->comm, &request);
  } else if (g->alltoall) {
    MPI_Neighbor_alltoall(g->send, n, MPI_LONG, g->receive, n, MPI_LONG, g->comm);
  } else {
    MPI_Neighbor_allgather(g->send, n, MPI_LONG, g->receive, n, MPI_LONG, g->comm);
  }
  if (g->nonblocking) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static double rounds(void* state, long count) {
  const double start = now_s();
  for (long i = 0; i < count; i++) exchange(state);
  return until_all_ended(start);
}

// Word i of a block identifies its sender, the sender's side, and i.
static long word_of(int rank, int side, long i) {
  return ((long)rank * kNeighbors + side) << 32 | i;
}

static int is_block(const struct Grid* g, int from, int rank, int side) {
  const long* got = g->receive + (long)from * g->words;
  for (long i = 0; i < g->words; i++) {
    if (got[i] != word_of(rank, side, i)) return 0;
  }
  return 1;
}

// The block received on side k was sent by that neighbour's opposite side. If a dimension has two ranks they are
// neighbours on both sides, and MPI libraries differ in the order of the two blocks: either order is right, but not the
// same block twice.
static void check(const struct Grid* g) {
  for (int k = 0; k < kNeighbors; k++) {
    const int opposite = k ^ 1, from = g->neighbors[k];
    if (is_block(g, k, from, g->alltoall ? opposite : 0)) continue;
    const int swapped = g->sides[k / 2] == 2 && is_block(g, k, from, k) && is_block(g, opposite, from, opposite);
    if (!swapped) fail("a neighbour's block is wrong");
  }
}

static void measure(struct Grid* g, const char* mode, long bytes, double seconds) {
  const int blocks = g->alltoall ? kNeighbors : 1;
  g->words = (int)(bytes / 8);
  g->send = (long*)new_buffer((size_t)(bytes * blocks));
  g->receive = (long*)new_buffer((size_t)(bytes * kNeighbors));
  for (int k = 0; k < blocks; k++) {
    for (long i = 0; i < g->words; i++) g->send[(long)k * g->words + i] = word_of(g->rank, k, i);
  }
  exchange(g);
  check(g);
  const double step = time_of_step(rounds, g, seconds, agree_on);
  check(g);
  int size = 0;
  MPI_Comm_size(g->comm, &size);
  char name[64];
  snprintf(name, sizeof name, "neighbor_%s_%d", mode, size);
  if (g->rank == 0) report(name, bytes, step * 1e6, "us");
  free(g->send);
  free(g->receive);
}

int main(int argc, char** argv) {
  const struct World world = begin(&argc, &argv, 0);
  struct Options options = {.mode = "alltoall", .sizes = {8}, .size_count = 1, .seconds = 0.05};
  read_options(argc, argv, &options);
  struct Grid g = {.rank = world.rank, .nonblocking = options.mode[0] == 'i'};
  g.alltoall = strcmp(options.mode + g.nonblocking, "alltoall") == 0;
  if (!g.alltoall && strcmp(options.mode + g.nonblocking, "allgather") != 0) fail("no such mode");
  const int periods[kDimensions] = {1, 1};
  MPI_Dims_create(world.size, kDimensions, g.sides);
  MPI_Cart_create(MPI_COMM_WORLD, kDimensions, g.sides, periods, 0, &g.comm);
  for (int d = 0; d < kDimensions; d++) MPI_Cart_shift(g.comm, d, 1, &g.neighbors[2 * d], &g.neighbors[2 * d + 1]);
  for (int i = 0; i < options.size_count; i++) measure(&g, options.mode, options.sizes[i], options.seconds);
  MPI_Comm_free(&g.comm);
  MPI_Finalize();
  return 0;
}
