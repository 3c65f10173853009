// The paper's put and get (paper 001, figure 11) of rank 0 to rank 1: eight puts of different lengths, a put of three
// blocks, a get of one, and a get of three blocks.
#include <margay/mpi_rma_1996.h>
#include <stdlib.h>

enum { kInts = 100, kPuts = 8, kBlocks = 3 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, mine[kInts], wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* memory = calloc(kInts, sizeof(int));
  MPI_Datatype thirds;
  MPI_Type_vector(kBlocks, 1, 3, MPI_INT, &thirds);
  MPI_Type_commit(&thirds);
  MPI_Comm rma;
  MPI_RMA_init(memory, kInts * sizeof(int), sizeof(int), MPI_COMM_WORLD, &rma);
  for (int i = 0; i < kInts; ++i) mine[i] = i + 1;
  // All puts write to the same offset: the last one determines the contents if they arrive in order.
  for (int i = 0; rank == 0 && i < kPuts; ++i) MPI_RMA_put(mine + i, 1 + i, MPI_INT, 1, 10, 1 + i, MPI_INT, rma);
  if (rank == 0) MPI_RMA_put(mine, kBlocks, MPI_INT, 1, 40, 1, thirds, rma);
  // The signal arrives after the puts.
  if (rank == 0) MPI_Send(NULL, 0, MPI_INT, 1, 0, rma);
  if (rank == 1) {
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, rma, MPI_STATUS_IGNORE);
    for (int i = 0; i < kPuts; ++i) wrong += memory[10 + i] != kPuts + i;
    for (int i = 0; i < kBlocks; ++i) wrong += memory[40 + 3 * i] != 1 + i;
  }
  if (rank == 0) {
    MPI_RMA_get(mine, kPuts, MPI_INT, 1, 10, kPuts, MPI_INT, rma);
    for (int i = 0; i < kPuts; ++i) wrong += mine[i] != kPuts + i;
    MPI_RMA_get(mine, kBlocks, MPI_INT, 1, 40, 1, thirds, rma);
    for (int i = 0; i < kBlocks; ++i) wrong += mine[i] != 1 + i;
  }
  MPI_RMA_free(&rma);
  MPI_Type_free(&thirds);
  free(memory);
  if (wrong != 0) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Finalize();
  return 0;
}
