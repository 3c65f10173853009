// A program that makes errors before MPI_Init, between MPI_Init and MPI_Finalize, and after MPI_Finalize, with the
// initial error handler. It prints their effects, and the handler's name in MPI_INFO_ENV.
#include <mpi.h>
#include <stdio.h>

static int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

int main(int argc, char** argv) {
  const int before = MPI_Info_set(MPI_INFO_NULL, "key", "value");
  MPI_Init(&argc, &argv);
  MPI_Errhandler world, self;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &world);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &self);
  const int sent = MPI_Send(&before, 1, MPI_INT, 4711, 1, MPI_COMM_WORLD);
  const int created = MPI_Info_free(&(MPI_Info){MPI_INFO_NULL});
  char value[64] = "";
  int width = sizeof value, found = 0;
  MPI_Info_get_string(MPI_INFO_ENV, "mpi_initial_errhandler", &width, value, &found);
  printf("before %d, handlers %d %d, send %d, info %d, mpi_initial_errhandler %s\n", class_of(before) == MPI_ERR_INFO,
         world == MPI_ERRORS_RETURN, self == MPI_ERRORS_RETURN, class_of(sent) == MPI_ERR_RANK,
         class_of(created) == MPI_ERR_INFO, value);
  MPI_Finalize();
  return MPI_Info_set(MPI_INFO_NULL, "key", "value") == MPI_SUCCESS;
}
