// Tests of a collective call in which one rank passes another amount of data than the others, and this or another rank
// enters late. By then some ranks have left the call, freed its communicator and created others. The removal of a file
// signals the late rank to continue, so it has received no message before.
// ranks: 4
// reference: none, ranks that name different amounts of data are not allowed
// wires: shm epoll
#include "check.h"

// kLeaf is a leaf of every tree, so it leaves a reduction as soon as its row is sent.
enum { kRow = 10, kLongRow = 20000, kOdd = 1, kLeaf = 1, kLate = 3 };

static char go[] = "/tmp/margay-lengths.XXXXXX";

static void make_the_file(void) {
  memcpy(strrchr(go, '.'), ".XXXXXX", sizeof ".XXXXXX");
  if (world_rank() == 0) close(mkstemp(go));
  MPI_Bcast(go, sizeof go, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void wait_until_it_is_gone(void) {
  while (access(go, F_OK) == 0) usleep(1000);
}

static MPI_Comm dup_that_returns_errors(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

// The late member's message arrives when the root has left the failed call and freed the communicator. The next
// communicator must not match the message.
static void rows_of_a_failed_call(void) {
  const int rank = world_rank(), size = world_size();
  int* row = memory_of(sizeof *row * kLongRow);
  int* rows = memory_of(sizeof *rows * kLongRow * (size_t)size);
  make_the_file();
  for (int round = 1; round <= 2; ++round) {
    MPI_Comm comm = dup_that_returns_errors();
    for (int i = 0; i < kLongRow; ++i) row[i] = round;
    if (round == 1 && rank == kLate) wait_until_it_is_gone();
    const int length = round == 1 && rank == kOdd ? kLongRow : kRow;
    const int error = MPI_Gather(row, length, MPI_INT, rows, length, MPI_INT, 0, comm);
    MPI_Comm_free(&comm);
    if (round == 1 && rank == 0) unlink(go);
    if (rank != 0) continue;
    CHECK((error == MPI_SUCCESS) == (round == 2), "gather %d: error %d", round, error);
    for (int i = 0; round == 2 && i < kRow * size; ++i) CHECK(rows[i] == round, "element %d is %d", i, rows[i]);
  }
  free(row);
  free(rows);
}

// A member that is asked for data of a finished call must answer that the call is over, although its communicator was
// freed and another one uses the contexts.
static void asked_after_the_end(void) {
  const int rank = world_rank();
  int* row = memory_of(sizeof *row * kLongRow);
  int* sum = memory_of(sizeof *sum * kLongRow);
  memset(row, 0, sizeof *row * kLongRow);
  make_the_file();
  MPI_Comm comm = dup_that_returns_errors(), alone;
  MPI_Barrier(comm);
  if (rank == kLate) wait_until_it_is_gone();
  const int error = MPI_Reduce(row, sum, rank == kLate ? kLongRow : kRow, MPI_INT, MPI_SUM, 0, comm);
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_SELF, &alone);
  MPI_Barrier(alone);
  if (rank == kLeaf) unlink(go);
  int here = error != MPI_SUCCESS, somewhere = 0;
  MPI_Allreduce(&here, &somewhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(somewhere, "a reduction of two lengths: no rank got an error");
  MPI_Comm_free(&alone);
  free(row);
  free(sum);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  rows_of_a_failed_call();
  asked_after_the_end();
  return suite_end("collective_lengths_late");
}
