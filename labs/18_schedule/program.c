/* Lab 18: a race and a deadlock that depend on the order in which messages arrive. Page: page.md. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "variant.h"

enum { kTag = 7, kMostRanks = 16 };

static int rank, size;

/* A worker's digit of a round. */
static int digit_of(int worker, int round) {
  return kDigits[round * (size - 1) + worker - 1];
}

/* Part 1, to be left as it is: rank 0 collects the digits of one round in the order of their arrival. It takes that of
 * the last worker at the end, because this worker is said to be the slowest. */
static void collect_racy(int* digits) {
  MPI_Status status;
  int got = 0;
  while (got < size - 2) MPI_Recv(&digits[got++], 1, MPI_INT, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &status);
  MPI_Recv(&digits[got], 1, MPI_INT, size - 1, kTag, MPI_COMM_WORLD, &status);
}

/* Part 2: digits[i] becomes the digit of worker i + 1 of this round, whichever message arrives first. A worker sends
 * its digits of all rounds one after the other, with the same tag. */
static void collect(int* digits) {
  (void)digits;
  /* BLANK 1: receive the digits of a round */
  /* END 1 */
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int racy = argc > 1 && strcmp(argv[1], "racy") == 0;
  if (rank == 0) printf("result:");
  if (!racy && rank == kSlow) usleep(1000); /* the others are ahead by their second digits */
  for (int round = 0; round < (racy ? 1 : kRounds); ++round)
    if (rank == 0) {
      int digits[kMostRanks] = {0};
      if (racy)
        collect_racy(digits);
      else
        collect(digits);
      printf(" ");
      for (int i = 0; i < size - 1; ++i) printf("%d", digits[i]);
    } else {
      const int digit = digit_of(rank, round);
      MPI_Send(&digit, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD);
    }
  if (rank == 0) printf("\n");
  MPI_Finalize();
  return 0;
}
