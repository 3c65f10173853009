/* Each rank sends to one rank and receives from one. `./program stuck` runs part 1, which deadlocks: do not change it.
 * Without an argument the program runs parts 2 and 3, which you fix. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "variant.h"

enum { kTag = 7, kOrderTag = 8, kFreeTag = 9 };

static char *out, *in;

/* Part 1: rank r sends kLengths[r] bytes to kTo[r], and then receives from kFrom[r]. */
static void stuck(int rank) {
  MPI_Send(out, kLengths[rank], MPI_BYTE, kTo[rank], kTag, MPI_COMM_WORLD);
  MPI_Recv(in, kLengths[kFrom[rank]], MPI_BYTE, kFrom[rank], kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Part 2: kLongBytes bytes of each rank's `out` into the `in` of rank kTo, by one MPI_Send and one MPI_Recv alone. */
static void by_order(int rank) {
  const int to = kTo[rank], from = kFrom[rank];
  /* BLANK 1: some ranks must receive first */
  MPI_Send(out, kLongBytes, MPI_BYTE, to, kOrderTag, MPI_COMM_WORLD);
  MPI_Recv(in, kLongBytes, MPI_BYTE, from, kOrderTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  /* END 1 */
}

/* Part 3: the same, by calls that do not depend on an order. */
static void by_other_calls(int rank) {
  const int to = kTo[rank], from = kFrom[rank];
  /* BLANK 2: one call that does both, or calls that start both and complete them later */
  MPI_Send(out, kLongBytes, MPI_BYTE, to, kFreeTag, MPI_COMM_WORLD);
  MPI_Recv(in, kLongBytes, MPI_BYTE, from, kFreeTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  /* END 2 */
}

/* Reports bytes of `in` that rank kFrom did not send, and clears `in` for the next part. */
static void look(const char* part, int rank) {
  int wrong = 0;
  for (int i = 0; i < kLongBytes; ++i) wrong += in[i] != 1 + kFrom[rank];
  if (wrong) printf("%s: rank %d: %d bytes of `in` are not those of rank %d's `out`\n", part, rank, wrong, kFrom[rank]);
  memset(in, 0, kLongBytes);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  out = malloc(kLongBytes);
  memset(out, 1 + rank, kLongBytes);
  in = calloc(kLongBytes, 1);
  if (argc > 1 && strcmp(argv[1], "stuck") == 0) {
    stuck(rank);
  } else {
    MPI_Comm between; /* for the barrier between the parts: the check distinguishes it from yours */
    MPI_Comm_dup(MPI_COMM_WORLD, &between);
    by_order(rank);
    look("BLANK 1: part 2", rank);
    MPI_Barrier(between);
    by_other_calls(rank);
    look("BLANK 2: part 3", rank);
    MPI_Comm_free(&between);
  }
  MPI_Finalize(); /* before free(): a request that was never completed may write there until then */
  free(out);
  free(in);
  return 0;
}
