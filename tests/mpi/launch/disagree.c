// Collective calls in which the last rank passes a different argument than the others: the program's argument names it.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size;

static int is(const char* word, const char* argument) {
  return strcmp(word, argument) == 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* what = argc > 1 ? argv[1] : "clean";
  const int odd = rank == size - 1;
  int in[64] = {1}, out[64];
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Comm_set_name(half, "half");
  // Matching calls, many on two communicators, so that their numbers differ.
  for (int i = 0; i < 200; ++i) {
    MPI_Bcast(in, 4, MPI_INT, i % size, MPI_COMM_WORLD);
    if (i % 3 == rank % 2) MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, half);
    if (i % 50 == 0) {
      MPI_Comm again;
      MPI_Request request;
      MPI_Comm_idup(half, &again, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Barrier(again);
      MPI_Comm_free(&again);
    }
  }
  if (is(what, "root")) MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, odd ? 1 : 0, MPI_COMM_WORLD);
  if (is(what, "op")) MPI_Allreduce(in, out, 1, MPI_INT, odd ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
  if (is(what, "type")) MPI_Bcast(in, 2, odd ? MPI_FLOAT : MPI_INT, 0, MPI_COMM_WORLD);
  if (is(what, "count")) MPI_Allreduce(in, out, odd ? 2 : 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (is(what, "order")) {
    if (odd) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(in, 4, MPI_INT, 0, MPI_COMM_WORLD);
    if (!odd) MPI_Barrier(MPI_COMM_WORLD);
  }
  if (is(what, "begun")) {
    MPI_Request request;
    MPI_Iallreduce(in, out, odd ? 2 : 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (is(what, "gather")) MPI_Gather(in, 1, odd ? MPI_FLOAT : MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (is(what, "forgotten") && !odd) MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD);
  if (is(what, "half") && !odd) MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, size / 2 - 1, half);
  if (is(what, "made")) {
    MPI_Comm made;
    if (odd) {
      MPI_Comm_dup(MPI_COMM_WORLD, &made);
    } else {
      MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
    }
  }
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
