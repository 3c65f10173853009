// A program that closes every file descriptor it can name after MPI_Init, the library's too, as some that become
// daemons do; then ranks 0 and 1 talk.
#include <mpi.h>
#include <unistd.h>

enum { kDescriptors = 1024 };

int main(int argc, char** argv) {
  int rank = -1;
  int value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int descriptor = 3; descriptor < kDescriptors; ++descriptor) close(descriptor);
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
