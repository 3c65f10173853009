// A rank that dies inside a one-sided epoch, while the others put into its window: window DEATH
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 2) return 99;
  enum { kCount = 1 << 20 };
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* memory = calloc(kCount, sizeof(int));
  MPI_Win window;
  MPI_Win_create(memory, kCount * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  if (rank == 1) kill(getpid(), strcmp(argv[1], "kill") == 0 ? SIGKILL : SIGSEGV);
  for (int i = 0; i < 1000; ++i) MPI_Put(memory, kCount, MPI_INT, 1, 0, kCount, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
