// Sends whose bytes the library copies first: reports have the program's count and type.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int values[4] = {1, 2, 3, 4}, rank;
  float floats[2] = {1.0F, 2.0F};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Sendrecv_replace(values, 4, MPI_INT, 1 - rank, 3, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int room = 10000;
  void* buffer = malloc((size_t)room);
  MPI_Buffer_attach(buffer, room);
  if (rank == 0) {
    MPI_Bsend(floats, 2, MPI_FLOAT, 1, 5, MPI_COMM_WORLD);
  } else {
    MPI_Recv(floats, 2, MPI_FLOAT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Buffer_detach(&buffer, &room);
  free(buffer);
  MPI_Finalize();
  return 0;
}
