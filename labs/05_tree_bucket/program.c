/* Broadcasts along a tree and round a bucket, by margay (part 1) and by hand (part 2). Do not change part 1; complete
 * the bucket of part 2. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "variant.h"

enum { kTag = 7 };

static int rank, size;
static char* bytes;

/* Along a tree (figure 8): in each round a rank that has the message gives half of its range of ranks to another. */
static void tree_broadcast(char* data, int length) {
  int begin = 0, end = size; /* begin has the data */
  while (end - begin > 1) {
    const int middle = begin + (end - begin + 1) / 2; /* begin keeps the larger half */
    if (rank == begin) MPI_Send(data, length, MPI_BYTE, middle, kTag, MPI_COMM_WORLD);
    if (rank == middle) MPI_Recv(data, length, MPI_BYTE, begin, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < middle)
      end = middle;
    else
      begin = middle;
  }
}

/* Reports an invalid piece number and ends the job. */
static void must_be_pieces(int step, int out, int in) {
  const int out_is = rank == size - 1 || (out >= 0 && out < size), in_is = rank == 0 || (in >= 0 && in < size);
  if (out_is && in_is) return;
  fprintf(stderr, "BLANK 1: rank %d, step %d: out is %d and in is %d, and pieces have the numbers 0 to %d%s\n", rank,
          step, out, in, size - 1, out < 0 || in < 0 ? " (in C -1 % size is -1)" : "");
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Round a bucket (figure 9): rank 0 sends each rank a piece of length / size bytes, piece r to rank r. Then in each of
 * size-1 steps a rank passes a piece that it has on to rank+1, and receives a piece that it lacks from rank-1. No rank
 * sends to rank 0, which has all. */
static void bucket_broadcast(char* data, int length) {
  const int piece = length / size;
  for (int to = 1; to < size; ++to) {
    if (rank == 0) MPI_Send(data + to * piece, piece, MPI_BYTE, to, kTag, MPI_COMM_WORLD);
    if (rank == to) MPI_Recv(data + to * piece, piece, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int step = 0; step < size - 1; ++step) {
    int out = 0, in = 0;
    /* BLANK 1: set out and in, numbers of pieces from 0 to size-1: in step 0 rank r passes on its own piece, r; the
     * piece that comes in in one step goes out in the next */
    /* END 1 */
    must_be_pieces(step, out, in);
    MPI_Request sent = MPI_REQUEST_NULL;
    if (rank + 1 < size) MPI_Isend(data + out * piece, piece, MPI_BYTE, rank + 1, kTag, MPI_COMM_WORLD, &sent);
    if (rank > 0) MPI_Recv(data + in * piece, piece, MPI_BYTE, rank - 1, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }
}

/* Whether the bucket costs less than the tree by the page's formulas, with kAlphaNs nanoseconds a message and kBetaPs
 * picoseconds a byte. */
static int bucket_is_cheaper(double length) {
  double tree_ps = 0, bucket_ps = 0;
  (void)length;
  /* BLANK 2: set tree_ps and bucket_ps: the costs of rank 0's messages, in picoseconds */
  /* END 2 */
  if (rank == 0)
    printf("costs of %.0f bytes on %d ranks: tree_ps %.0f, bucket_ps %.0f\n", length, size, tree_ps, bucket_ps);
  return bucket_ps < tree_ps;
}

/* Prints, for the check, the costs of part 1's broadcast for other numbers of ranks. */
static void print_other_costs(void) {
  const int ranks = size;
  for (size = 2; size <= 17; ++size) bucket_is_cheaper(kBytes);
  size = ranks;
}

enum { kRepeats = 200 };

/* Time of a broadcast on the slowest rank, in microseconds: the best of kRepeats. */
static double measured(void (*broadcast)(char* data, int length), int length) {
  double best = 1e30;
  for (int i = 0; i < kRepeats; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    broadcast(bytes, length);
    double mine = 1e6 * (MPI_Wtime() - begin), slowest = 0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (slowest < best) best = slowest;
  }
  return best;
}

/* ./program measure: times both hand-written broadcasts on this machine. The check does not judge it. */
static void measure(void) {
  if (rank == 0) printf("    bytes      tree us    bucket us\n");
  for (int length = 64 * size; length <= kBytes * 16; length *= 4) {
    const double tree = measured(tree_broadcast, length), bucket = measured(bucket_broadcast, length);
    if (rank == 0) printf("%9d %12.1f %12.1f\n", length, tree, bucket);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bytes = calloc(kBytes, 16);
  if (argc > 1 && strcmp(argv[1], "measure") == 0) {
    measure();
    MPI_Finalize();
    return 0;
  }

  /* Part 1: margay's own broadcast, by the algorithm that --collective names. */
  MPI_Bcast(bytes, kBytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD); /* part 1 is complete on all ranks, however part 2 ends */

  /* Part 2: the hand-written broadcasts, each length by the cheaper one. kLengths are multiples of `size`. */
  int wrong = 0;
  for (int i = 0; i < kLengthsCount; ++i) {
    for (int k = 0; k < kLengths[i]; ++k) bytes[k] = (char)(rank == 0 ? k * 31 / 7 + i : -1);
    if (bucket_is_cheaper(kLengths[i]))
      bucket_broadcast(bytes, kLengths[i]);
    else
      tree_broadcast(bytes, kLengths[i]);
    for (int k = 0; k < kLengths[i]; ++k) wrong += bytes[k] != (char)(k * 31 / 7 + i);
  }
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("part 2: %d bytes are wrong\n", all);
  print_other_costs();
  MPI_Finalize();
  return 0;
}
