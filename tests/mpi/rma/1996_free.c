// A test of a window of 1996 that is freed just after the reply to its long get: the origin has the bytes before the
// target's kernel is notified of that. The address sanitizer reports it if the kernel then uses a freed descriptor.
// ranks: 2
// reference: none, no other MPI has it
// wires: shm uring
// compilers: ours
#include "../check.h"

#include <margay/mpi_rma_1996.h>

enum { kBytes = 4 << 20, kRounds = 100 };

static void compute(double seconds) {
  const double begin = MPI_Wtime();
  while (MPI_Wtime() - begin < seconds) continue;
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  volatile int* flag;
  MPI_Win shared;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int node_size;
  MPI_Comm_size(node, &node_size);
  MPI_Win_allocate_shared(sizeof *flag, 1, MPI_INFO_NULL, node, (void*)&flag, &shared);
  MPI_Aint bytes;
  int unit;
  MPI_Win_shared_query(shared, 0, &bytes, &unit, (void*)&flag);
  if (world_rank() == 0) *flag = -1;
  char* memory = malloc(kBytes);
  memset(memory, world_rank() + 1, kBytes);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm rma;
    MPI_RMA_init(memory, kBytes, 1, MPI_COMM_WORLD, &rma);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0) {
      while (node_size == 2 && *flag != round) continue;
      compute(1e-6 * (round % 5) * 10);
    } else {
      MPI_RMA_get(memory, kBytes, MPI_CHAR, 0, 0, kBytes, MPI_CHAR, rma);
      CHECK(memory[0] == 1 && memory[kBytes - 1] == 1, "round %d: %d and %d came", round, memory[0],
            memory[kBytes - 1]);
      if (node_size == 2) *flag = round;
    }
    MPI_RMA_free(&rma);
  }
  free(memory);
  MPI_Win_free(&shared);
  MPI_Comm_free(&node);
  return suite_end("rma_1996_free");
}
