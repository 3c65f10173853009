/* Put and get as in the paper (section 4): into and out of another rank's window, at an offset that the origin
 * chooses. Part 1 is for your predictions: do not change it. Part 2 has the blanks. A "word" is an empty message that
 * notifies another rank. */
#include <margay/mpi_rma_1996.h>
#include <stdio.h>
#include <stdlib.h>

#include "variant.h"

enum { kWordTag = 5 };

static int rank, size;

/* Part 1: rank 0 accesses the window of rank 1, which meanwhile waits for a word. */
static void part_1(MPI_Comm rma, int* mine) {
  if (rank == 1) MPI_Recv(NULL, 0, MPI_INT, 0, kWordTag, rma, MPI_STATUS_IGNORE);
  if (rank != 0) return;
  MPI_Datatype column; /* kBlocks blocks of kBlockInts ints, each begins kStride ints after the one before */
  MPI_Type_vector(kBlocks, kBlockInts, kStride, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_RMA_put(mine, kInts, MPI_INT, 1, kPlace, kInts, MPI_INT, rma); /* a */
  MPI_RMA_put(mine, kBlocks * kBlockInts, MPI_INT, 1, kColumn, 1, column,
              rma); /* b: at the target, one element of type column */
  MPI_RMA_get(mine, kBlocks * kBlockInts, MPI_INT, 1, kColumn, 1, column, rma);       /* c */
  MPI_RMA_put(mine, kInts, MPI_INT, 1, kWindowInts - kInts + 1, kInts, MPI_INT, rma); /* d: one int past the end */
  MPI_Send(NULL, 0, MPI_INT, 1, kWordTag, rma);
  MPI_Type_free(&column);
}

/* Part 2: each rank puts a block of kShare ints into the window of every other rank, rank r's at r * kShare. No message
 * but a word may be received into the window. Returns the number of wrong ints in this rank's window. */
static int exchange(MPI_Comm rma, int* window, int* mine) {
  for (int i = 0; i < kShare; ++i) mine[i] = 1000 * rank + i;
  for (int other = 0; other < size; ++other) {
    if (other == rank) continue;
    /* BLANK 1: put the kShare ints of mine into other's window, at this rank's place */
    /* END 1 */
  }
  for (int other = 0; other < size; ++other) {
    if (other == rank) continue;
    /* BLANK 2: notify other that this rank's block is in its window, and wait until other's block is in this one */
    /* END 2 */
  }
  int wrong = 0;
  for (int other = 0; other < size; ++other)
    for (int i = 0; i < kShare && other != rank; ++i) wrong += window[other * kShare + i] != 1000 * other + i;
  return wrong;
}

/* Part 2, continued: rank 0 reads rank kOther's place in rank kOwner's window. */
static int read_back(MPI_Comm rma, int* mine) {
  if (rank != 0) return 0;
  for (int i = 0; i < kShare; ++i) mine[i] = -1;
  /* BLANK 3: get the kShare ints at kOther's place in kOwner's window into mine */
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
