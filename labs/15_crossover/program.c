/* Lab 15: from which length on is the bucket faster than the tree? Page: page.md. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "variant.h"

enum { kShortest = 1 << 10, kLongest = 1 << 20 }; /* bytes */

static int rank, size;

/* Microseconds until the last rank has the result of an allreduce of so many doubles; on rank 0. */
static double measured(const double* in, double* out, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double mine = 1e6 * (MPI_Wtime() - begin);
  double all = mine;
  /* BLANK 1: set all on rank 0: each rank has measured only its own time, and no two ranks end together */
  /* END 1 */
  return all;
}

/* The page's formulas for an allreduce of `bytes` bytes, in microseconds; kAlphaNs nanoseconds a message, kBetaPs
 * picoseconds a byte. */
static void formulas(double bytes, double* tree_us, double* bucket_us) {
  *tree_us = *bucket_us = 0;
  (void)bytes;
  /* BLANK 2: set *tree_us and *bucket_us from bytes, size, kAlphaNs and kBetaPs */
  /* END 2 */
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double* in = calloc(kLongest, 1);
  double* out = calloc(kLongest, 1);
  if (rank == 0) printf("    bytes  measured us      tree us    bucket us\n");
  for (int bytes = kShortest; bytes <= kLongest; bytes *= 2) {
    const double us = measured(in, out, bytes / (int)sizeof(double));
    double tree_us, bucket_us;
    formulas(bytes, &tree_us, &bucket_us);
    if (rank == 0) printf("%9d %12.1f %12.1f %12.1f\n", bytes, us, tree_us, bucket_us);
  }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
