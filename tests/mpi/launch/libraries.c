// A program whose MPI calls are in a shared library that another library loads. Each part is compiled from this file:
// LOWER calls a function that fails, and with MISSING one that no library defines; UPPER makes no MPI calls.
#include <mpi.h>

int lower(void);
int upper(void);
int MPI_Margay_lacks_this(void);

#if defined LOWER
int lower(void) {
#ifdef MISSING
  MPI_Margay_lacks_this();
#endif
  MPI_File file = MPI_FILE_NULL;
  return MPI_File_open(MPI_COMM_SELF, "nowhere", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
}
#elif defined UPPER
int upper(void) {
  return lower();
}
#else
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) upper();
  MPI_Finalize();
  return 0;
}
#endif
