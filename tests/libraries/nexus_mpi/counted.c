// A known number of messages: each rank sends `kMessages` to the next one, and one synchronously, whose receiver is in
// a collective call meanwhile. Three messages of another communicator, of margay's own between two groups, and none to
// MPI_PROC_NULL. Prints "messages M answers A", the numbers that --stats must show.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMessages = 25, kOthers = 3 };

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "counted: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);

  // The same tag in two communicators: each receive gets its own.
  for (int i = 0; i < kOthers; ++i) {
    const int value = 1000 + i;
    MPI_Send(&value, 1, MPI_INT, to, 5, copy);
  }
  for (int i = 0; i < kMessages; ++i) MPI_Send(&i, 1, MPI_INT, to, 5, MPI_COMM_WORLD);
  for (int i = 0; i < kMessages; ++i) {
    int value = -1;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    check(value == i && status.MPI_SOURCE == from && status.MPI_TAG == 5, "a message is out of order");
  }
  for (int i = 0; i < kOthers; ++i) {
    int value = -1;
    MPI_Recv(&value, 1, MPI_INT, from, 5, copy, MPI_STATUS_IGNORE);
    check(value == 1000 + i, "a message of another communicator was received");
  }

  // The receive is posted, and its rank waits in the barrier while the sender waits for the answer.
  int in = -1;
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_INT, from, 6, MPI_COMM_WORLD, &request);
  MPI_Ssend(&rank, 1, MPI_INT, to, 6, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(in == from, "a synchronous message is wrong");
  MPI_Send(&rank, 1, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD);

  MPI_Comm_free(&copy);
  MPI_Finalize();
  if (rank == 0) printf("messages %d answers %d\n", size * (kMessages + kOthers + 1), size);
  return 0;
}
