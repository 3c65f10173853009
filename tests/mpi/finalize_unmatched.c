// A test that MPI_Finalize does not wait for unmatched operations: receives without a message, sends without a receive
// (to the rank itself and to another one), freed requests, and a partitioned receive that was never started.
// ranks: 1 2
// reference: 1 2
// sanitized: none, the memory of unmatched operations is leaked
#include <stdlib.h>

#include "check.h"

enum { kBytes = 1 << 20 };

// Sends of every protocol that wait for a receiver, and short ones that do not.
static void leave_to(int other, char* large) {
  MPI_Request request;
  MPI_Issend(large, 8, MPI_CHAR, other, 8, MPI_COMM_WORLD, &request);
  MPI_Issend(large, kBytes, MPI_CHAR, other, 9, MPI_COMM_WORLD, &request);
  MPI_Isend(large, kBytes, MPI_CHAR, other, 10, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  for (int i = 0; i < 20; ++i) MPI_Send(large, 8, MPI_CHAR, other, 12, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static int word[4];
  MPI_Request request;
  MPI_Comm copy;
  MPI_Init(&argc, &argv);
  const int rank = world_rank();
  char* const large = malloc(kBytes);
  memset(large, rank, kBytes);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Irecv(&word[0], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
  MPI_Irecv(&word[1], 1, MPI_INT, rank, 2, copy, &request);
  MPI_Irecv(&word[2], 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Comm_free(&copy);
  MPI_Issend(&word[3], 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &request);
  MPI_Isend(large, kBytes, MPI_CHAR, rank, 5, MPI_COMM_WORLD, &request);
  MPI_Precv_init(&word[0], 1, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  if (world_size() == 2 && rank == 0) MPI_Irecv(large, kBytes, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &request);
  if (world_size() == 2 && rank == 1) MPI_Send(large, kBytes, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
  if (world_size() == 2) leave_to(1 - rank, large);
  return suite_end("finalize_unmatched");
}
