// Tests of Sendrecv and Sendrecv_replace: rings in both directions, different sizes and types, self, and partners with
// plain sends and receives.
// ranks: 1 2 3 5
// reference: 3
#include "check.h"

enum { kTag = 2, kMateTag = 3, kLargest = 300000 };

static const int kSizes[] = {0, 1, 40, 41, 16384, 16385, kLargest};
enum { kSizeCount = sizeof kSizes / sizeof kSizes[0] };

static void around(int rank, int size, int step, int bytes) {
  const int to = (rank + step + size) % size, from = (rank - step + size) % size;
  unsigned char* out = memory_of((size_t)bytes);
  unsigned char* in = memory_of((size_t)bytes);
  MPI_Status status;
  pattern_fill(out, (size_t)bytes, (unsigned)rank);
  MPI_Sendrecv(out, bytes, MPI_BYTE, to, kTag, in, bytes, MPI_BYTE, from, kTag, MPI_COMM_WORLD, &status);
  check_status("Sendrecv", &status, from, kTag, bytes);
  CHECK(pattern_mismatch(in, (size_t)bytes, (unsigned)from) == (size_t)bytes, "Sendrecv of %d bytes: wrong body",
        bytes);
  // Once around the whole ring, in place: each rank gets its own data back.
  for (int i = 0; i < size; ++i)
    MPI_Sendrecv_replace(out, bytes, MPI_BYTE, to, kTag + i, from, kTag + i, MPI_COMM_WORLD, &status);
  check_status("Sendrecv_replace", &status, from, kTag + size - 1, bytes);
  CHECK(pattern_mismatch(out, (size_t)bytes, (unsigned)rank) == (size_t)bytes,
        "Sendrecv_replace of %d bytes: wrong body after the round", bytes);
  free(out);
  free(in);
}

// Send and receive may differ in count and type; here each rank sends its rank + 1 ints.
static void unlike(int rank, int size) {
  int* out = memory_of(sizeof(int) * (size_t)(rank + 1));
  double numbers[64];
  MPI_Status status;
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int count = 0;
  for (int i = 0; i <= rank; ++i) out[i] = 100 * rank + i;
  int in[64] = {0};
  MPI_Sendrecv(out, rank + 1, MPI_INT, to, kTag, in, 64, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == from + 1, "received %d ints from %d", count, from);
  CHECK(in[from] == 100 * from + from, "the last int is %d", in[from]);
  for (int i = 0; i < 64; ++i) numbers[i] = -1;
  MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, kTag, numbers, 64, MPI_DOUBLE, MPI_PROC_NULL, kTag, MPI_COMM_WORLD,
               &status);
  check_status("Sendrecv with MPI_PROC_NULL", &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  CHECK(numbers[0] == -1, "a receive from MPI_PROC_NULL wrote %g", numbers[0]);
  free(out);
}

// The partner of a Sendrecv may be a plain send or receive.
static void with_plain_mates(int rank, int size) {
  if (size < 2 || rank > 1) return;
  int value = rank == 0 ? 11 : 22, other = 0;
  if (rank == 0) {
    MPI_Sendrecv(&value, 1, MPI_INT, 1, kMateTag, &other, 1, MPI_INT, MPI_ANY_SOURCE, kMateTag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(other == 22, "received %d", other);
  } else {
    MPI_Send(&value, 1, MPI_INT, 0, kMateTag, MPI_COMM_WORLD);
    MPI_Recv(&other, 1, MPI_INT, 0, kMateTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(other == 11, "received %d", other);
  }
}

// A column is sent as a vector and is replaced by the neighbour's.
static void replace_column(int rank, int size) {
  enum { kSide = 40 };
  int grid[kSide][kSide];
  MPI_Datatype column;
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) grid[y][x] = rank * 10000 + y * 100 + x;
  MPI_Type_vector(kSide, 1, kSide, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Sendrecv_replace(&grid[0][3], 1, column, to, kTag, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);
  for (int y = 0; y < kSide; ++y) {
    CHECK(grid[y][3] == from * 10000 + y * 100 + 3, "row %d of the column is %d", y, grid[y][3]);
    CHECK(grid[y][4] == rank * 10000 + y * 100 + 4, "row %d beside the column is %d", y, grid[y][4]);
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  for (int i = 0; i < kSizeCount; ++i) {
    around(rank, size, 1, kSizes[i]);
    around(rank, size, -1, kSizes[i]);
  }
  unlike(rank, size);
  with_plain_mates(rank, size);
  replace_column(rank, size);
  return suite_end("sendrecv");
}
