// Tests of Bcast: every root, sizes from 0 to 1 MiB, a vector on the root and ints elsewhere, many in a row.
// ranks: 1 2 3 5 8
// reference: 3
#include "check.h"

static const int kSizes[] = {0, 1, 40, 41, 4096, 16384, 16385, 100000, 1 << 20};
enum { kSizeCount = sizeof kSizes / sizeof kSizes[0] };

static void all_sizes(int rank, int size) {
  unsigned char* body = memory_of((1 << 20) + 1);
  for (int i = 0; i < kSizeCount; ++i)
    for (int root = 0; root < size; ++root) {
      const size_t bytes = (size_t)kSizes[i];
      memset(body, 0, bytes + 1);
      if (rank == root) pattern_fill(body, bytes, (unsigned)(root + i));
      body[bytes] = 0xa5;
      MPI_Bcast(body, kSizes[i], MPI_BYTE, root, MPI_COMM_WORLD);
      CHECK(pattern_mismatch(body, bytes, (unsigned)(root + i)) == bytes, "%d bytes from %d: wrong", kSizes[i], root);
      CHECK(body[bytes] == 0xa5, "%d bytes from %d: wrote past the end", kSizes[i], root);
    }
  free(body);
}

static void unlike_layouts(int rank, int size) {
  enum { kRows = 5000 };
  static int cells[kRows * 2];
  MPI_Datatype every_second;
  MPI_Type_vector(kRows, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  const int root = size - 1;
  for (int i = 0; i < 2 * kRows; ++i) cells[i] = rank == root ? i : -1;
  if (rank == root)
    MPI_Bcast(cells, 1, every_second, root, MPI_COMM_WORLD);
  else
    MPI_Bcast(cells, kRows, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < kRows; ++i) CHECK(rank == root || cells[i] == 2 * i, "int %d is %d", i, cells[i]);
  // The reverse: ints on the root, a vector elsewhere.
  for (int i = 0; i < 2 * kRows; ++i) cells[i] = rank == root ? i : -1;
  if (rank == root)
    MPI_Bcast(cells, kRows, MPI_INT, root, MPI_COMM_WORLD);
  else
    MPI_Bcast(cells, 1, every_second, root, MPI_COMM_WORLD);
  for (int i = 0; i < kRows && rank != root; ++i)
    CHECK(cells[2 * i] == i && cells[2 * i + 1] == -1, "row %d is %d, %d", i, cells[2 * i], cells[2 * i + 1]);
  MPI_Type_free(&every_second);
}

// Calls without synchronisation between them, so that a fast root runs ahead of slow leaves.
static void in_a_row(int rank, int size) {
  for (int i = 0; i < 300; ++i) {
    int value = rank == i % size ? i : -1;
    MPI_Bcast(&value, 1, MPI_INT, i % size, MPI_COMM_WORLD);
    CHECK(value == i, "broadcast %d brought %d", i, value);
  }
  for (int i = 0; i < 100; ++i) {
    int value = rank == 0 ? i : -1;
    if (rank != 0 && i % 25 == rank) usleep(1000);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(value == i, "broadcast %d from 0 brought %d", i, value);
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  all_sizes(rank, size);
  unlike_layouts(rank, size);
  in_a_row(rank, size);
  return suite_end("bcast");
}
