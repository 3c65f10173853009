// A program that sends a known stream around the ring for some seconds and checks every number: ranks that are stopped
// and continued meanwhile, or asked for a report by SIGUSR1, must still compute the right result. steady SECONDS
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int count = 30000;
  int* mine = malloc(sizeof(int) * (size_t)count);
  int* theirs = malloc(sizeof(int) * (size_t)count);
  const double begin = MPI_Wtime();
  int go_on = 1;
  int rounds = 0;
  int wrong = 0;
  while (go_on) {
    const int length = rounds % 3 == 0 ? 1 : rounds % 3 == 1 ? 1000 : count;
    for (int i = 0; i < length; ++i) mine[i] = rank * 1000 + rounds + i;
    MPI_Sendrecv(mine, length, MPI_INT, (rank + 1) % size, 1, theirs, length, MPI_INT, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const int sender = (rank + size - 1) % size;
    for (int i = 0; i < length; ++i) wrong += theirs[i] != sender * 1000 + rounds + i;
    ++rounds;
    int mine_goes = MPI_Wtime() - begin < seconds;
    MPI_Allreduce(&mine_goes, &go_on, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("rounds %s, wrong numbers %d\n", rounds > 3 ? "many" : "few", wrong);
  MPI_Finalize();
  return wrong != 0;
}
