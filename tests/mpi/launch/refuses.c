// A program that calls functions which the library declares but does not implement: of failed processes, and files.
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
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) MPIX_Comm_revoke(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) return end_by_it();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  expect_refused("MPIX_Comm_revoke", MPIX_Comm_revoke(MPI_COMM_WORLD));
  expect_refused("MPIX_Comm_failure_ack", PMPIX_Comm_failure_ack(MPI_COMM_WORLD));
  MPI_File file = MPI_FILE_NULL;
  expect_refused("MPI_File_open", MPI_File_open(MPI_COMM_SELF, "nowhere", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  printf("%d failures\n", failures);
  MPI_Finalize();
  return failures;
}
