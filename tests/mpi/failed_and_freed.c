// Completion of several requests, of which one fails on a freed communicator. The next one runs functions of the
// program before the error is raised; the communicator's error handler must still exist then.
// ranks: 1 2
#include "check.h"

static int query(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_INT, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int forget(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0; round < 100; ++round) {
    MPI_Comm copy;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    char room[2];
    int class = MPI_SUCCESS;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Irecv(room, 2, MPI_CHAR, rank, 1, copy, &requests[0]);
    MPI_Send("too long", 8, MPI_CHAR, rank, 1, copy);
    MPI_Comm_free(&copy);
    MPI_Grequest_start(query, forget, cancel, NULL, &requests[1]);
    MPI_Grequest_complete(requests[1]);
    MPI_Error_class(MPI_Waitall(2, requests, statuses), &class);
    CHECK(class == MPI_ERR_IN_STATUS, "round %d: class %d", round, class);
  }
  return suite_end("failed and freed");
}
