// A test that an unreceived message is discarded with its communicator: a later communicator with the same context
// never receives it.
// ranks: 2 3
// reference: none, MPICH's later communicators receive it
#include "check.h"

enum { kTag = 5, kRounds = 20, kLeft = 3 };

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank();
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm comm, other;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    int word = round;
    if (rank == 0) {
      for (int i = 0; i < kLeft; ++i) {
        const int left = -round - 1;
        MPI_Send(&left, 1, MPI_INT, 1, kTag, round % 2 ? other : comm);
      }
      MPI_Send(&word, 1, MPI_INT, 1, kTag, round % 2 ? comm : other);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(round % 2 ? &other : &comm);
    // Messages of the communicator that remains are not affected.
    if (rank == 1) {
      MPI_Recv(&word, 1, MPI_INT, 0, kTag, round % 2 ? comm : other, MPI_STATUS_IGNORE);
      CHECK(word == round, "round %d received %d", round, word);
    }
    MPI_Comm_free(round % 2 ? &comm : &other);
  }
  return suite_end("communicators_stale");
}
