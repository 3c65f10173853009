// Tests of Gather and Allgather: every root, blocks from 0 to 128 KiB, MPI_IN_PLACE, different layouts on the two
// sides, and datatypes with absolute addresses.
// ranks: 1 2 3 5 8
// reference: 3
#include "check.h"

static const int kBlocks[] = {0, 1, 40, 41, 5000, 16385, 131072};
enum { kBlockCount = sizeof kBlocks / sizeof kBlocks[0], kMost = 131072 };

static void check_blocks(const char* what, const unsigned char* body, int bytes, int size) {
  for (int r = 0; r < size; ++r) {
    const size_t wrong = pattern_mismatch(body + (size_t)r * (size_t)bytes, (size_t)bytes, (unsigned)r);
    CHECK(wrong == (size_t)bytes, "%s of %d bytes: block %d is wrong at byte %zu", what, bytes, r, wrong);
  }
}

static void one_size(int rank, int size, int bytes, unsigned char* in, unsigned char* all) {
  unsigned char* own = all + (size_t)rank * (size_t)bytes;
  const size_t total = (size_t)size * (size_t)bytes;
  pattern_fill(in, (size_t)bytes, (unsigned)rank);
  const int step = bytes > 5000 && size > 2 ? size / 2 : 1;
  for (int root = 0; root < size; root += step) {
    memset(all, 0, total);
    MPI_Gather(in, bytes, MPI_BYTE, all, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    if (rank == root) check_blocks("Gather", all, bytes, size);
    memset(all, 0, total);
    pattern_fill(own, (size_t)bytes, (unsigned)rank);
    MPI_Gather(rank == root ? MPI_IN_PLACE : in, bytes, MPI_BYTE, rank == root ? all : NULL, bytes, MPI_BYTE, root,
               MPI_COMM_WORLD);
    if (rank == root) check_blocks("Gather in place", all, bytes, size);
  }
  memset(all, 0, total);
  MPI_Allgather(in, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
  check_blocks("Allgather", all, bytes, size);
  memset(all, 0, total);
  pattern_fill(own, (size_t)bytes, (unsigned)rank);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
  check_blocks("Allgather in place", all, bytes, size);
}

// Each rank sends every second int of a column, and the receiver stores them as plain ints; and the reverse.
static void unlike_layouts(int rank, int size) {
  enum { kRows = 300 };
  int column[2 * kRows];
  int* all = memory_of(sizeof(int) * (size_t)(2 * kRows * size));
  MPI_Datatype every_second;
  MPI_Type_vector(kRows, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  for (int i = 0; i < 2 * kRows; ++i) column[i] = rank * 10000 + i;
  for (int i = 0; i < 2 * kRows * size; ++i) all[i] = -1;
  MPI_Gather(column, 1, every_second, all, kRows, MPI_INT, size - 1, MPI_COMM_WORLD);
  for (int i = 0; i < kRows * size && rank == size - 1; ++i)
    CHECK(all[i] == i / kRows * 10000 + 2 * (i % kRows), "gathered int %d is %d", i, all[i]);
  for (int i = 0; i < 2 * kRows * size; ++i) all[i] = -1;
  MPI_Allgather(column, kRows, MPI_INT, all, 1, every_second, MPI_COMM_WORLD);
  // The vector's extent does not include the gap behind its last element.
  for (int i = 0; i < kRows * size; ++i) {
    const int at = i / kRows * (2 * kRows - 1) + 2 * (i % kRows);
    CHECK(all[at] == i / kRows * 10000 + i % kRows, "allgathered int %d is %d", i, all[at]);
  }
  MPI_Type_free(&every_second);
  free(all);
}

static void in_a_row(int rank, int size) {
  int* all = memory_of(sizeof(int) * (size_t)size);
  for (int i = 0; i < 200; ++i) {
    const int value = i * 100 + rank;
    if (i % 2)
      MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, i % size, MPI_COMM_WORLD);
    else
      MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size && (i % 2 == 0 || rank == i % size); ++r)
      CHECK(all[r] == i * 100 + r, "number %d: from %d came %d", i, r, all[r]);
  }
  free(all);
}

static MPI_Datatype int_at(const int* address) {
  MPI_Aint place;
  MPI_Datatype there, type;
  MPI_Get_address(address, &place);
  MPI_Type_create_hindexed_block(1, 1, &place, MPI_INT, &there);
  MPI_Type_create_resized(there, 0, sizeof(int), &type);
  MPI_Type_free(&there);
  MPI_Type_commit(&type);
  return type;
}

// Both buffer arguments are MPI_BOTTOM, but the datatypes lead to different memory.
static void by_addresses(int rank, int size) {
  const int mine = 100 + rank;
  int* all = memory_of(sizeof(int) * (size_t)size);
  MPI_Datatype from = int_at(&mine), to = int_at(all);
  for (int gathers = 0; gathers < 2; ++gathers) {
    for (int r = 0; r < size; ++r) all[r] = -1;
    if (gathers)
      MPI_Gather(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, size - 1, MPI_COMM_WORLD);
    else
      MPI_Allgather(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, MPI_COMM_WORLD);
    for (int r = 0; r < size && (!gathers || rank == size - 1); ++r)
      CHECK(all[r] == 100 + r, "from MPI_BOTTOM: from %d came %d", r, all[r]);
  }
  MPI_Type_free(&from);
  MPI_Type_free(&to);
  free(all);
}

#define REFUSED(call)                                                                 \
  do {                                                                                \
    const int code_ = (call);                                                         \
    CHECK(class_of(code_) == MPI_ERR_BUFFER, "%s: class %d", #call, class_of(code_)); \
  } while (0)

// One buffer for both arguments, and MPI_IN_PLACE as an argument for which it is invalid.
static void aliased(void) {
  int one[2] = {1, 2};
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  REFUSED(MPI_Gather(one, 1, MPI_INT, one, 1, MPI_INT, 0, MPI_COMM_SELF));
  REFUSED(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_SELF));
  REFUSED(MPI_Gather(one, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_SELF));
  REFUSED(MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, MPI_COMM_WORLD));
  REFUSED(MPI_Allgather(one, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, MPI_COMM_WORLD));
  REFUSED(MPI_Reduce(one, one, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF));
  REFUSED(MPI_Allreduce(one, one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  REFUSED(MPI_Allreduce(one, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  if (on_margay()) {  // MPICH 4.0.2 reads from that address
    REFUSED(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD));
    REFUSED(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_SELF));
  }
  REFUSED(MPI_Reduce_local(one, one, 1, MPI_INT, MPI_SUM));
  // The receive block of this rank.
  const int rank = world_rank(), size = world_size();
  int* all = memory_of((size_t)size * sizeof(int));
  REFUSED(MPI_Allgather(all + rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
  free(all);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  unsigned char* in = memory_of(kMost);
  unsigned char* all = memory_of((size_t)kMost * (size_t)size);
  for (int i = 0; i < kBlockCount; ++i) one_size(rank, size, kBlocks[i], in, all);
  unlike_layouts(rank, size);
  in_a_row(rank, size);
  by_addresses(rank, size);
  aliased();
  free(in);
  free(all);
  return suite_end("gather");
}
