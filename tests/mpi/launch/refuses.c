// Calls functions that the library has by name only: a chapter that comes later (windows), a file, one before MPI_Init.
// With "abort" only the first, as a fatal error.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect_refused(const char* name, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  if (error_class != MPI_ERR_UNSUPPORTED_OPERATION || strstr(text, name) == NULL) {
    printf("%s gave class %d and said: %s\n", name, error_class, text);
    ++failures;
  }
}

// Rank 1 calls one, which ends the job: the others wait.
static int end_by_it(void) {
  int rank = 0;
  int memory = 0;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Barrier(MPI_COMM_WORLD);
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) return end_by_it();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int memory = 0;
  MPI_Win window = MPI_WIN_NULL;
  expect_refused("MPI_Win_create", MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window));
  expect_refused("MPI_Put", PMPI_Put(&memory, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
  MPI_File file = MPI_FILE_NULL;
  expect_refused("MPI_File_open", MPI_File_open(MPI_COMM_SELF, "nowhere", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  printf("%d failures\n", failures);
  MPI_Finalize();
  return failures;
}
