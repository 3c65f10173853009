// Each function that Nexus does not carry fails, with its name in the text of the error. A send that fails leaves no
// request behind.
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

// A message that is longer than a request can be; its memory is not read.
static void fail_to_send(void) {
  char byte = 0;
  MPI_Request first, failed = MPI_REQUEST_NULL, next;
  MPI_Isend(&byte, 1, MPI_CHAR, 0, 2, MPI_COMM_SELF, &first);
  const MPI_Request handle = first;
  MPI_Wait(&first, MPI_STATUS_IGNORE);
  expect(MPI_Isend_c(&byte, (MPI_Count)1 << 40, MPI_CHAR, 0, 2, MPI_COMM_SELF, &failed), "MPI_Isend");
  MPI_Isend(&byte, 1, MPI_CHAR, 0, 2, MPI_COMM_SELF, &next);
  if (next != handle) {
    fprintf(stderr, "refused: a failed send keeps its request\n");
    ++failures;
  }
  MPI_Wait(&next, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; ++i) MPI_Recv(&byte, 1, MPI_CHAR, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  fail_to_send();
  int value = 0;
  MPI_Request request;
  expect(MPI_Send_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request), "MPI_Send_init");
  expect(MPI_Bsend_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request), "MPI_Bsend_init");
  expect(MPI_Rsend_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request), "MPI_Rsend_init");
  expect(MPI_Ssend_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request), "MPI_Ssend_init");
  expect(MPI_Recv_init(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request), "MPI_Recv_init");
  MPI_Finalize();
  if (failures == 0) printf("refused: right\n");
  return failures != 0;
}
