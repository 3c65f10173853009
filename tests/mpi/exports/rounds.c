// A ring: rounds.c ROUNDS BYTES. Each round every rank sends BYTES to the next one, and all reduce a number. The last
// rank computes before its first send.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 1, bytes = argc > 2 ? atoi(argv[2]) : 8;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* sent = calloc(1, (size_t)bytes + 1);
  char* received = calloc(1, (size_t)bytes + 1);
  volatile double work = 0;
  if (rank == size - 1) {
    for (int i = 0; i < 20000000; ++i) work += i;
  }
  for (int round = 0; round < rounds; ++round) {
    MPI_Sendrecv(sent, bytes, MPI_CHAR, (rank + 1) % size, 1, received, bytes, MPI_CHAR, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  free(sent);
  free(received);
  MPI_Finalize();
  return 0;
}
