// Tests of one-sided communication as proposed in 1996: puts and gets on a communicator that also carries messages.
// ranks: 1 2 3
// reference: none, no other MPI has it
// wires: shm uring
// compilers: ours
#include "../check.h"

#include <margay/mpi_rma_1996.h>

enum { kInts = 100000, kTag = 7 };

// "Any of the normal MPI wait or test functions."
static void tested(int* memory, MPI_Comm rma) {
  const int rank = world_rank(), size = world_size(), to = (rank + 1) % size;
  int word = 5 + to, back = 0, flag = 0;
  MPI_Request requests[2];
  MPI_RMA_iput(&word, 1, MPI_INT, to, 3, 1, MPI_INT, rma, &requests[0]);
  MPI_RMA_iget(&back, 1, MPI_INT, to, 3, 1, MPI_INT, rma, &requests[1]);
  while (!flag) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  for (flag = 0; !flag;) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  CHECK(back == 5 + to, "behind a put of %d a get brought %d", word, back);
  MPI_Barrier(rma);
  CHECK(memory[3] == 5 + rank, "%d was put", memory[3]);
  MPI_Barrier(rma);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size(), to = (rank + 1) % size, from = (rank + size - 1) % size;
  int* memory = calloc(kInts, sizeof(int));
  int* mine = malloc(kInts * sizeof(int));
  MPI_Comm rma = MPI_COMM_NULL, freed;
  MPI_RMA_init(memory, kInts * (MPI_Aint)sizeof(int), sizeof(int), MPI_COMM_WORLD, &rma);
  for (int round = 0; round < 20; ++round) {
    const int count = round % 2 == 0 ? 10 : kInts - 5;
    for (int i = 0; i < count; ++i) mine[i] = 1000 * rank + i + round;
    MPI_Request request = MPI_REQUEST_NULL;
    if (round % 4 < 2) {
      MPI_RMA_put(mine, count, MPI_INT, to, 5, count, MPI_INT, rma);
    } else {
      MPI_RMA_iput(mine, count, MPI_INT, to, 5, count, MPI_INT, rma, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    // The received message was sent after the put: pairwise order.
    int word = -1;
    MPI_Sendrecv(&round, 1, MPI_INT, to, kTag, &word, 1, MPI_INT, from, kTag, rma, MPI_STATUS_IGNORE);
    int wrong = word != round;
    for (int i = 0; i < count; ++i) wrong += memory[5 + i] != 1000 * from + i + round;
    CHECK(wrong == 0, "round %d: %d of the ints that were put are wrong", round, wrong);
    MPI_Barrier(rma);  // the puts of all ranks have arrived
    memset(mine, 0, kInts * sizeof(int));
    MPI_RMA_iget(mine, count, MPI_INT, from, 5, count, MPI_INT, rma, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const int before = (from + size - 1) % size;
    for (int i = wrong = 0; i < count; ++i) wrong += mine[i] != 1000 * before + i + round;
    CHECK(wrong == 0, "round %d: %d of the ints that were got are wrong", round, wrong);
    MPI_Barrier(rma);
  }
  tested(memory, rma);
  // One message for each block.
  MPI_Datatype thirds;
  MPI_Type_vector(10, 1, 3, MPI_INT, &thirds);
  MPI_Type_commit(&thirds);
  for (int i = 0; i < 10; ++i) mine[i] = -i - rank;
  MPI_RMA_put(mine, 10, MPI_INT, to, 0, 1, thirds, rma);
  MPI_Sendrecv(mine, 0, MPI_INT, to, kTag, mine, 0, MPI_INT, from, kTag, rma, MPI_STATUS_IGNORE);
  for (int i = 0; i < 10; ++i) CHECK(memory[3 * i] == -i - from, "block %d is %d", i, memory[3 * i]);
  MPI_Barrier(rma);
  MPI_RMA_get(mine, 10, MPI_INT, from, 0, 1, thirds, rma);
  const int before = (from + size - 1) % size;
  for (int i = 0; i < 10; ++i) CHECK(mine[i] == -i - before, "block %d that was got is %d", i, mine[i]);
  MPI_Type_free(&thirds);
  MPI_Comm_set_errhandler(rma, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int class = 0;
  MPI_Error_class(MPI_RMA_put(mine, 1, MPI_INT, to, kInts, 1, MPI_INT, rma), &class);
  CHECK(class == MPI_ERR_RMA_RANGE, "a put behind the window has class %d", class);
  MPI_Error_class(MPI_RMA_put(mine, 1, MPI_INT, to, 0, 1, MPI_INT, MPI_COMM_WORLD), &class);
  CHECK(class == MPI_ERR_COMM, "a put on a communicator without a window has class %d", class);
  freed = rma;
  MPI_Error_class(MPI_Comm_free(&freed), &class);
  CHECK(class == MPI_ERR_COMM, "MPI_Comm_free of it has class %d", class);
  MPI_RMA_free(&rma);
  CHECK(rma == MPI_COMM_NULL, "the handle of a freed communicator is 0x%x", (unsigned)rma);
  free(memory);
  free(mine);
  return suite_end("rma_1996");
}
