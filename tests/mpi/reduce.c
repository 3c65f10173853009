// Tests of Reduce and Allreduce: sizes from 0 to 1 MiB, every root, MPI_IN_PLACE, the same bits on every rank, many in
// a row.
// ranks: 1 2 3 5 7 8
// reference: 3
#include <math.h>

#include "check.h"

static const int kCounts[] = {0, 1, 5, 6, 512, 2048, 2049, 20000, 131072};
enum { kCountCount = sizeof kCounts / sizeof kCounts[0], kMost = 131072 };

static double term(int rank, int i) {
  return (double)(rank + 1) * (i % 1000 + 1);
}
static double sum_of(int size, int i) {
  return (double)size * (size + 1) / 2 * (i % 1000 + 1);
}

static void check_sums(const char* what, const double* sums, int count, int size) {
  for (int i = 0; i < count; ++i)
    if (sums[i] != sum_of(size, i)) {
      CHECK(0, "%s of %d doubles: element %d is %g, expected %g", what, count, i, sums[i], sum_of(size, i));
      return;
    }
}

static void one_count(int rank, int size, int count, double* in, double* out) {
  for (int i = 0; i < count; ++i) in[i] = term(rank, i);
  // Long ones to two or three roots only, to keep the suite short.
  const int step = count > 2049 && size > 2 ? size / 2 : 1;
  for (int root = 0; root < size; root += step) {
    for (int i = 0; i < count; ++i) out[i] = -1;
    out[count] = -5;
    MPI_Reduce(in, rank == root ? out : NULL, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    if (rank == root) check_sums("Reduce", out, count, size);
    CHECK(out[count] == -5, "Reduce of %d doubles wrote past the end", count);
    // MPICH 4.0.2 reads from the address MPI_IN_PLACE when the root is not 0 and the message is long.
    if (root != 0 && !on_margay()) continue;
    memcpy(out, in, sizeof *in * (size_t)count);
    MPI_Reduce(rank == root ? MPI_IN_PLACE : in, rank == root ? out : NULL, count, MPI_DOUBLE, MPI_SUM, root,
               MPI_COMM_WORLD);
    if (rank == root) check_sums("Reduce in place", out, count, size);
  }
  for (int i = 0; i < count; ++i) out[i] = -1;
  MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  check_sums("Allreduce", out, count, size);
  memcpy(out, in, sizeof *in * (size_t)count);
  MPI_Allreduce(MPI_IN_PLACE, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  check_sums("Allreduce in place", out, count, size);
  for (int i = 0; i < count; ++i)
    if (in[i] != term(rank, i)) {
      CHECK(0, "the send buffer was changed at %d", i);
      break;
    }
}

// Rounding depends on the order of summation, but all ranks must have the same bits.
static void same_bits(int rank, int size) {
  double in[100], out[100], first[100];
  for (int i = 0; i < 100; ++i) in[i] = sin(rank * 1.7 + i) * pow(10, (rank * 7 + i) % 13);
  MPI_Allreduce(in, out, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  memcpy(first, out, sizeof out);
  MPI_Bcast(first, 100, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
  CHECK(memcmp(first, out, sizeof out) == 0, "Allreduce gave other bits than on rank %d", size - 1);
  for (int i = 0; i < 20; ++i) {
    double again[100];
    MPI_Allreduce(in, again, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(memcmp(again, out, sizeof out) == 0, "Allreduce number %d gave other bits than the first", i);
  }
}

static void in_a_row(int rank, int size) {
  for (int i = 0; i < 200; ++i) {
    int sum = 0;
    const int value = rank + i, root = i % size;
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    CHECK(rank != root || sum == size * (size - 1) / 2 + i * size, "reduce %d: sum %d", i, sum);
  }
  // One root only, so leaves run ahead of it.
  for (int i = 0; i < 100; ++i) {
    int largest = -1;
    const int value = rank * 1000 + i;
    if (rank == 0 && i % 25 == 0) usleep(1000);
    MPI_Reduce(&value, &largest, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    CHECK(rank != 0 || largest == (size - 1) * 1000 + i, "reduce %d to 0: largest %d", i, largest);
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  double* in = memory_of(sizeof(double) * kMost);
  double* out = memory_of(sizeof(double) * (kMost + 1));
  for (int i = 0; i < kCountCount; ++i) one_count(rank, size, kCounts[i], in, out);
  same_bits(rank, size);
  in_a_row(rank, size);
  free(in);
  free(out);
  return suite_end("reduce");
}
