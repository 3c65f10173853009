// Functions of the program that MPI calls: callbacks operation | attribute | handler | query. Each sleeps for an hour,
// prints, and draws a random number; so it must be the rank's, in virtual time.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int called;

static void run(const char* what) {
  if (called++ > 0) return;
  const double began = MPI_Wtime();
  sleep(3600);
  printf("%s %.0f %d\n", what, MPI_Wtime() - began, rand());
}

static void operation(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  run("operation");
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  run("attribute");
  return MPI_SUCCESS;
}

static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  run("handler");
}

static int query(void* extra, MPI_Status* status) {
  (void)extra;
  MPI_Status_set_elements(status, MPI_INT, 0);
  MPI_Status_set_cancelled(status, 0);
  run("query");
  return MPI_SUCCESS;
}

static int nothing(void* extra) {
  (void)extra;
  return MPI_SUCCESS;
}

static int cancel(void* extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const what = argc > 1 ? argv[1] : "";
  srand(1);
  if (strcmp(what, "operation") == 0) {
    MPI_Op op;
    int one = 1, sum = 0;
    MPI_Op_create(operation, 1, &op);
    MPI_Reduce(&one, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD);
    MPI_Op_free(&op);
  } else if (strcmp(what, "attribute") == 0) {
    int key = 0;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
    if (rank == 0) MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    called = 1;
  } else if (strcmp(what, "handler") == 0) {
    MPI_Errhandler made;
    MPI_Comm_create_errhandler(handler, &made);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, made);
    if (rank == 0) MPI_Send(NULL, 0, MPI_INT, 1000, 0, MPI_COMM_WORLD);
  } else if (rank == 0) {
    MPI_Request request;
    MPI_Grequest_start(query, nothing, cancel, NULL, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
