// A program that closes every file descriptor it can name after MPI_Init, the library's too, as some that become
// daemons do; then ranks 0 and 1 talk. closer [late]: they have talked before.
#include <mpi.h>
#include <unistd.h>

enum { kDescriptors = 1024, kLong = 1 << 20 };
static char body[kLong];

static void talk(int rank, int bytes) {
  if (rank == 0) MPI_Send(body, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(body, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1) talk(rank, kLong);
  for (int descriptor = 3; descriptor < kDescriptors; ++descriptor) close(descriptor);
  talk(rank, 1);
  MPI_Finalize();
  return 0;
}
