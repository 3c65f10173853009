// A test that puts of 1996 arrive while no rank calls MPI: each rank puts a word to the next and computes until its own
// has arrived. With three ranks, some rank computes on the processor of another one's message coprocessor.
// ranks: 1 2 3
// reference: none, no other MPI has it
// wires: shm uring
// compilers: ours
#include "../check.h"

#include <margay/mpi_rma_1996.h>

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size(), to = (rank + 1) % size, from = (rank + size - 1) % size;
  static volatile int memory[2];
  MPI_Comm rma = MPI_COMM_NULL;
  MPI_RMA_init((void*)memory, sizeof memory, sizeof(int), MPI_COMM_WORLD, &rma);
  for (int round = 0; round < 20; ++round) {
    int word = 100 * round + rank + 1;
    MPI_RMA_put(&word, 1, MPI_INT, to, 0, 1, MPI_INT, rma);
    while (memory[0] != 100 * round + from + 1) continue;
    MPI_Barrier(rma);
    word = -word;
    MPI_RMA_put(&word, 1, MPI_INT, rank, 1, 1, MPI_INT, rma);
    CHECK(memory[1] == word, "round %d: a put to oneself left %d", round, memory[1]);
    MPI_Barrier(rma);
  }
  MPI_RMA_free(&rma);
  return suite_end("1996_bypass");
}
