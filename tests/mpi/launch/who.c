// A program that prints its rank, size, library and arguments. Every rank prints one line; a ring of messages proves
// that the ranks are one job.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = -1, size = -1, length = 0, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Get_library_version(library, &length);
  int token = rank;
  for (int i = 0; i < size; ++i) {
    sum += token;
    MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 1, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
  }
  printf("rank %d of %d on %s, ring %s", rank, size, strstr(library, "margay") ? "margay" : "another library",
         sum == size * (size - 1) / 2 ? "whole" : "broken");
  for (int i = 1; i < argc; ++i) printf(" [%s]", argv[i]);
  printf("\n");
  MPI_Finalize();
  return 0;
}
