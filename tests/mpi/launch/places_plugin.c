// A library that the program loads and closes; with -DOTHER another one of the same size, which creates no objects.
#include <mpi.h>

void makes(MPI_Comm* copy);
void makes(MPI_Comm* copy) {
#ifdef OTHER
  MPI_Comm_size(MPI_COMM_WORLD, (int*)copy);
#else
  MPI_Comm_dup(MPI_COMM_WORLD, copy);
#endif
}
