// Worlds of one to three children follow each other in the same places. Each uses all that leaves state in shared
// memory: long and short collective calls, windows, messages in both directions. spawned_again COUNT
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kElements = 60000, kRounds = 3, kSlots = 16 };

static double mine[kElements], sums[kElements];

static void fail(const char* what) {
  fprintf(stderr, "wrong: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Each member puts its number into each other's window.
static void use_window(MPI_Comm both) {
  int size = 0, rank = 0, *base = NULL;
  MPI_Comm_size(both, &size);
  MPI_Comm_rank(both, &rank);
  MPI_Win window;
  MPI_Win_allocate(kSlots * sizeof(int), sizeof(int), MPI_INFO_NULL, both, &base, &window);
  MPI_Win_fence(0, window);
  const int number = 100 + rank;
  for (int peer = 0; peer < size; ++peer) MPI_Put(&number, 1, MPI_INT, peer, rank, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  for (int peer = 0; peer < size; ++peer) {
    if (base[peer] != 100 + peer) fail("a put");
  }
  MPI_Win_free(&window);
}

static void use_collectives(MPI_Comm comm) {
  int size = 0, rank = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kElements; ++i) mine[i] = rank + i;
    MPI_Allreduce(mine, sums, kElements, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < kElements; ++i) {
      if (sums[i] != (double)size * i + size * (size - 1) / 2) fail("a sum");
    }
    MPI_Bcast(sums, kElements, MPI_DOUBLE, round % size, comm);
    MPI_Barrier(comm);
  }
}

static void together(MPI_Comm other, int high) {
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Intercomm_merge(other, high, &both);
  use_window(both);
  use_collectives(both);
  MPI_Comm_free(&both);
  MPI_Comm_disconnect(&other);
}

int main(int argc, char** argv) {
  MPI_Comm parent = MPI_COMM_NULL, children = MPI_COMM_NULL;
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (parent != MPI_COMM_NULL) {
    use_collectives(MPI_COMM_WORLD);
    together(parent, 1);
  }
  for (int world = 0; parent == MPI_COMM_NULL && world < atoi(argv[1]); ++world) {
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1 + world % 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
    together(children, 0);
  }
  if (parent == MPI_COMM_NULL) printf("rank %d has met all\n", rank);
  MPI_Finalize();
  return 0;
}
