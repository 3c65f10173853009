// Figure 11 of the paper ("Put and Get Portals"): one-sided communication as proposed in 1996, before MPI-2 had
// windows. A communicator carries both messages, and puts and gets to memory that its members expose.
//
//   figure_11          (margay alone has these functions: margay/mpi_rma_1996.h)
//
// The messages, as `margay run --trace FOLDER` and `margay trace print FOLDER` show them:
//   - A put is a message to portal 6 of the target. Its match bits are 32 bits of the communicator's context and 32
//     bits of a tag; the memory descriptor is "sender-managed": the message contains the offset.
//   - A get "begins by posting a receive for the reply message". Then a message without a body goes to portal 7 of the
//     target, whose kernel replies with the window's bytes. Neither needs a call of the target.
//   - "Put operations maintain pairwise ordering": a message sent after a put is received after it. In the proposal
//     that is the only notification of the target.
#include <margay/mpi_rma_1996.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCount = 1000, kRounds = 10, kTag = 11 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;

  // "The RMA allocation function is equivalent to the standard malloc() function."
  int* window = calloc(2 * kCount, sizeof(int));
  int* mine = malloc(kCount * sizeof(int));
  MPI_Comm rma;
  MPI_RMA_init(window, 2 * kCount * (MPI_Aint)sizeof(int), sizeof(int), MPI_COMM_WORLD, &rma);

  for (int round = 0; round < kRounds; ++round) {
    // Put into the second half of the right neighbour's window, and notify it by a message.
    for (int i = 0; i < kCount; ++i) mine[i] = 1000 * rank + i + round;
    MPI_RMA_put(mine, kCount, MPI_INT, right, kCount, kCount, MPI_INT, rma);
    MPI_Sendrecv(NULL, 0, MPI_INT, right, kTag, NULL, 0, MPI_INT, left, kTag, rma, MPI_STATUS_IGNORE);
    for (int i = 0; i < kCount; ++i) wrong += window[kCount + i] != 1000 * left + i + round;

    // The window's first half becomes twice the second; then each rank reads the right neighbour's first half.
    for (int i = 0; i < kCount; ++i) window[i] = 2 * window[kCount + i];
    MPI_Barrier(rma);
    MPI_Request request;
    MPI_RMA_iget(mine, kCount, MPI_INT, right, 0, kCount, MPI_INT, rma, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    // The right neighbour's left neighbour is this rank, so it holds this rank's values.
    for (int i = 0; i < kCount; ++i) wrong += mine[i] != 2 * (1000 * rank + i + round);
    MPI_Barrier(rma);
  }

  MPI_RMA_free(&rma);
  free(window);
  free(mine);
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%d ranks, %d puts and gets of %d ints each\n", size, kRounds, kCount);
    if (all == 0)
      puts("all that was put and got is right");
    else
      printf("%d ints are wrong\n", all);
  }
  MPI_Finalize();
  return all != 0;
}
