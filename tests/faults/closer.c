// A program that closes all of its file descriptors after MPI_Init, including those of the library, as some programs do
// that become daemons; then ranks 0 and 1 exchange messages. closer [late]: they also do so before.
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
