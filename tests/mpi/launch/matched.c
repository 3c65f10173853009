// A matched probe and its receive; the story of the message has both.
#include <mpi.h>

enum { kTag = 2 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, words[2] = {1, 2};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Send(words, 2, MPI_INT, 1, kTag, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Message message;
    MPI_Mprobe(0, kTag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(words, 2, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
