/* Lab 16: messages that share the links of a mesh. Page: page.md. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "variant.h"

enum { kSide = 8, kRanks = kSide * kSide, kTag = 7 };
enum { kRight, kLeft, kDown, kUp, kWays }; /* the links that leave a switch */

static int rank;
static char *out, *in;

static int shift(int from) {
  return from / kSide * kSide + (from % kSide + 2) % kSide;
}

static int neighbour(int from) {
  return from ^ 1;
}

/* Of the first kWidth columns only; ranks of other columns send nothing. */
static int mirror(int from) {
  const int x = from % kSide;
  return x < kWidth ? from - x + kWidth - 1 - x : from;
}

/* Of the first kCorner rows and columns only. */
static int transpose(int from) {
  const int x = from % kSide, y = from / kSide;
  return x < kCorner && y < kCorner ? x * kSide + y : from;
}

/* Row 0 to column 0. */
static int edge(int from) {
  return from < kSide ? from * kSide : from;
}

static int far_corner(int from) {
  return kRanks - 1 - from;
}

/* Number of messages that cross the busiest link if each rank sends one to its target, unless that is itself.
 * links[s][w] counts those of the link that leaves switch s (column s % kSide, row s / kSide) in way w. */
static int busiest(int (*target)(int from)) {
  int links[kRanks][kWays], most = 0;
  memset(links, 0, sizeof links);
  for (int from = 0; from < kRanks; ++from) {
    const int to = target(from);
    int x = from % kSide, y = from / kSide;
    (void)to, (void)x, (void)y;
    /* BLANK 1: count the message on each link of its way: along its row first, then along the column */
    /* END 1 */
  }
  for (int at = 0; at < kRanks; ++at)
    for (int way = 0; way < kWays; ++way)
      if (links[at][way] > most) most = links[at][way];
  return most;
}

/* The longest of all ranks' times since `begin`, in microseconds; on rank 0. */
static double longest_since(double begin) {
  const double mine = 1e6 * (MPI_Wtime() - begin);
  double all = 0;
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return all;
}

/* Each rank sends kBytes to its target, unless that is itself; all at once. */
static void exchange(const char* name, int (*target)(int from)) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  /* Posted before any rank sends: the body of a long message that is not expected crosses the network twice. */
  for (int from = 0; from < kRanks; ++from)
    if (from != rank && target(from) == rank) MPI_Irecv(in, kBytes, MPI_BYTE, from, kTag, MPI_COMM_WORLD, &requests[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  if (target(rank) != rank) MPI_Isend(out, kBytes, MPI_BYTE, target(rank), kTag, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  const double us = longest_since(begin);
  if (rank == 0) printf("%s: %.1f us, busiest link %d\n", name, us, busiest(target));
}

static void broadcast(const char* name, MPI_Comm comm) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  MPI_Bcast(out, kBytes, MPI_BYTE, 0, comm);
  const double us = longest_since(begin);
  if (rank == 0) printf("%s: %.1f us\n", name, us);
}

int main(int argc, char** argv) {
  int size;
  MPI_Comm shuffled, mended;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != kRanks) MPI_Abort(MPI_COMM_WORLD, 1);
  out = calloc(kBytes, 1);
  in = calloc(kBytes, 1);

  exchange("neighbour", neighbour);
  exchange("shift", shift);
  exchange("mirror", mirror);
  exchange("transpose", transpose);
  exchange("edge", edge);
  exchange("far_corner", far_corner);

  /* A communicator such as a library may get it: rank 0 is first, the others are in the order of kOrder. */
  MPI_Comm_split(MPI_COMM_WORLD, 0, kOrder[rank], &shuffled);
  broadcast("tree", MPI_COMM_WORLD);
  broadcast("tree of the shuffled communicator", shuffled);
  int key = 0;
  MPI_Comm_rank(shuffled, &key);
  /* BLANK 2: set the key that orders the ranks of `mended` so that messages of its tree share no links */
  /* END 2 */
  MPI_Comm_split(shuffled, 0, key, &mended);
  broadcast("tree of the mended communicator", mended);

  MPI_Comm_free(&mended);
  MPI_Comm_free(&shuffled);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
