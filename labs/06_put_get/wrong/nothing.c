// says: BLANK 1: rank 0 put nothing into the window of rank
/* Put and get as the paper has them (section 4): into and out of another rank's window, at an offset that the origin
 * names. Part 1 is for your predictions: leave it as it is. Part 2 has the blanks. */
#include <margay/mpi_rma_1996.h>
#include <stdio.h>
#include <stdlib.h>

#include "variant.h"

enum { kWordTag = 5 };

static int rank, size;

/* Part 1: rank 0 reaches into the window of rank 1, which waits for a word all the while. */
static void part_1(MPI_Comm rma, int* mine) {
  if (rank == 1) MPI_Recv(NULL, 0, MPI_INT, 0, kWordTag, rma, MPI_STATUS_IGNORE);
  if (rank != 0) return;
  MPI_Datatype column; /* kBlocks blocks of kBlockInts ints, each kStride ints behind the one before */
  MPI_Type_vector(kBlocks, kBlockInts, kStride, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_RMA_put(mine, kInts, MPI_INT, 1, kPlace, kInts, MPI_INT, rma); /* a */
  MPI_RMA_put(mine, kBlocks * kBlockInts, MPI_INT, 1, kColumn, 1, column,
              rma); /* b: one element of type column there */
  MPI_RMA_get(mine, kBlocks * kBlockInts, MPI_INT, 1, kColumn, 1, column, rma);       /* c */
  MPI_RMA_put(mine, kInts, MPI_INT, 1, kWindowInts - kInts + 1, kInts, MPI_INT, rma); /* d: one int too far */
  MPI_Send(NULL, 0, MPI_INT, 1, kWordTag, rma);
  MPI_Type_free(&column);
}

/* Part 2: everybody gives everybody else a block of kShare ints. In each window rank r has the place r * kShare;
 * nothing is to be received there but words. Returns how many ints of this rank's window are wrong. */
static int exchange(MPI_Comm rma, int* window, int* mine) {
  for (int i = 0; i < kShare; ++i) mine[i] = 1000 * rank + i;
  for (int other = 0; other < size; ++other) {
    if (other == rank) continue;
    /* BLANK 1: put the kShare ints of mine into other's window, where this rank has its place */
    ;
    /* END 1 */
  }
  for (int other = 0; other < size; ++other) {
    if (other == rank) continue;
    /* BLANK 2: tell other that its block is there (it cannot see that), and wait until other's block is here */
    /* Puts and messages of a pair stay in order: when the word is received, the put in front of it is done. */
    MPI_Sendrecv(NULL, 0, MPI_INT, other, kWordTag, NULL, 0, MPI_INT, other, kWordTag, rma, MPI_STATUS_IGNORE);
    /* END 2 */
  }
  int wrong = 0;
  for (int other = 0; other < size; ++other)
    for (int i = 0; i < kShare && other != rank; ++i) wrong += window[other * kShare + i] != 1000 * other + i;
  return wrong;
}

/* Part 2 still: what rank kOwner's window has of rank kOther, read by rank 0. */
static int read_back(MPI_Comm rma, int* mine) {
  if (rank != 0) return 0;
  for (int i = 0; i < kShare; ++i) mine[i] = -1;
  /* BLANK 3: get kShare ints of kOther's place in kOwner's window into mine */
  MPI_RMA_get(mine, kShare, MPI_INT, kOwner, kOther * kShare, kShare, MPI_INT, rma);
  /* END 3 */
  int wrong = 0;
  for (int i = 0; i < kShare; ++i) wrong += mine[i] != 1000 * kOther + i;
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* window = calloc(kWindowInts, sizeof(int)); /* any memory may be a window */
  int* mine = calloc(kWindowInts, sizeof(int));
  MPI_Comm rma;
  MPI_RMA_init(window, kWindowInts * (MPI_Aint)sizeof(int), sizeof(int), MPI_COMM_WORLD, &rma);
  MPI_Comm_set_errhandler(rma, MPI_ERRORS_RETURN);
  part_1(rma, mine);
  MPI_Barrier(rma);
  const int wrong = exchange(rma, window, mine);
  MPI_Barrier(rma);
  const int read_wrong = read_back(rma, mine);
  MPI_RMA_free(&rma);
  printf("rank %d: exchange: %d ints are wrong, read back: %d\n", rank, wrong, read_wrong);
  free(window);
  free(mine);
  MPI_Finalize();
  return 0;
}
