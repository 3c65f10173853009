// A test that MPI_Finalize does not wait for a buffered send that is never received; one that is received late arrives
// completely.
// ranks: 2 3
// reference: none, MPICH waits for ever for the one that is never received
#include <stdlib.h>

#include "check.h"

enum { kBytes = 1 << 20 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = world_rank();
  const int last = world_size() - 1;
  char* const large = malloc(kBytes);
  char* const room = malloc(3 * kBytes);
  memset(large, rank + 1, kBytes);
  MPI_Buffer_attach(room, 3 * kBytes);
  if (rank == 0) {
    MPI_Bsend(large, kBytes, MPI_CHAR, last, 1, MPI_COMM_WORLD);
    MPI_Bsend(large, kBytes, MPI_CHAR, last, 2, MPI_COMM_WORLD);
  } else if (rank == last) {
    // The sender is in MPI_Finalize by then, or about to call it.
    const double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < 0.2) continue;
    MPI_Recv(large, kBytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int at = 0; at < kBytes; ++at) CHECK(large[at] == 1, "byte %d is %d", at, large[at]);
  }
  const int result = suite_end("finalize_buffered");
  free(room);
  free(large);
  return result;
}
