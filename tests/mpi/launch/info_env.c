// Prints MPI_INFO_ENV and MPI_APPNUM, one line for each rank, the pairs in the order of their keys here.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  const char* const keys[] = {"command", "argv", "maxprocs", "wdir", "soft", "file"};
  MPI_Init(&argc, &argv);
  int rank = -1, flag = 0, *program = NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &program, &flag);
  printf("rank %d program %d", rank, flag ? *program : -1);
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
    char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info_get(MPI_INFO_ENV, keys[i], MPI_MAX_INFO_VAL, value, &flag);
    if (flag) printf(" %s=%s", keys[i], value);
  }
  printf("\n");
  MPI_Finalize();
  return 0;
}
