// Rounds of a millisecond: each rank sends a number to rank 0, and receives its double. Rank 0 continues without the
// ranks that it loses, and prints them; a rank that loses rank 0 prints that.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { kRounds = 50 };

static void serve(int size) {
  int is_lost[64] = {0};
  for (int round = 0; round < kRounds; ++round) {
    for (int rank = 1; rank < size; ++rank) {
      int number = 0, doubled;
      if (is_lost[rank]) continue;
      is_lost[rank] = MPI_Recv(&number, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS;
      doubled = 2 * number;
      if (!is_lost[rank]) MPI_Send(&doubled, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
      if (is_lost[rank]) printf("lost %d in round %d\n", rank, round);
    }
  }
}

static void ask(int rank) {
  for (int round = 0; round < kRounds; ++round) {
    int number = rank + round, doubled = 0;
    usleep(1000);
    if (MPI_Sendrecv(&number, 1, MPI_INT, 0, 0, &doubled, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS) {
      printf("lost 0 in round %d\n", round);
      return;
    }
    if (doubled != 2 * number) printf("wrong\n");
  }
  printf("done\n");
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 0)
    serve(size);
  else
    ask(rank);
  // A rank that cannot finish ends the run, and the others print before.
  sleep(1);
  MPI_Finalize();
  return 0;
}
