// Each function that Nexus does not carry fails, with its name in the text of the error.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int code, const char* name) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  if (strstr(text, name) == NULL || strstr(text, "--over nexus") == NULL) {
    fprintf(stderr, "refused: %s: \"%s\"\n", name, text);
    ++failures;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int value = 0, other = 0;
  MPI_Request request;
  expect(MPI_Send_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request), "MPI_Send_init");
  expect(MPI_Bsend_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request), "MPI_Bsend_init");
  expect(MPI_Rsend_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request), "MPI_Rsend_init");
  expect(MPI_Ssend_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request), "MPI_Ssend_init");
  expect(MPI_Recv_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request), "MPI_Recv_init");
  expect(MPI_Isendrecv(&value, 1, MPI_INT, 0, 1, &other, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request), "MPI_Isendrecv");
  expect(MPI_Isendrecv_replace(&value, 1, MPI_INT, 0, 1, 0, 1, MPI_COMM_WORLD, &request), "MPI_Isendrecv_replace");
  MPI_Finalize();
  if (failures == 0) printf("refused: right\n");
  return failures != 0;
}
