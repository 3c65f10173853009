// A library that the program loads and closes; with -DOTHER another one, that makes nothing and is as large.
#include <mpi.h>

void makes(MPI_Comm* copy);
void makes(MPI_Comm* copy) {
#ifdef OTHER
  MPI_Comm_size(MPI_COMM_WORLD, (int*)copy);
#else
  MPI_Comm_dup(MPI_COMM_WORLD, copy);
#endif
}
