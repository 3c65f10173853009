// A test of ranks that start very many persistent collectives before rank 0 has started one: messages and other
// collectives between them proceed, and all of them complete. The time for each must not grow with their number.
// ranks: 2 3
// reference: none, MPICH 4.0.2 matches them in the order in which they are started
// sanitized: none, it takes too long
// wires: shm epoll
#include "check.h"

enum { kMade = 70000, kLong = 100000, kStarted = 7 };

static int rank, size;

// The length of collective `i`: most are short; every 1000th is long, so its data are requested.
static int length(int i) {
  return i % 1000 == 0 ? 20000 : 8;
}

int main(int argc, char** argv) {
  static MPI_Request requests[kMade];
  static unsigned char* data[kMade];
  static unsigned char between[kLong];
  suite_begin(&argc, &argv);
  rank = world_rank();
  size = world_size();
  for (int i = 0; i < kMade; ++i) {
    data[i] = calloc(1, (size_t)length(i));
    if (rank == 0) memset(data[i], i % 251 + 1, (size_t)length(i));
    MPI_Bcast_init(data[i], length(i), MPI_BYTE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
  }
  if (rank != 0) {
    MPI_Startall(kMade, requests);
    MPI_Send(&rank, 1, MPI_INT, 0, kStarted, MPI_COMM_WORLD);
  } else {
    for (int from = 1; from < size; ++from) {
      int sender = 0;
      MPI_Recv(&sender, 1, MPI_INT, from, kStarted, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(sender == from, "rank %d sent %d", from, sender);
    }
    memset(between, 9, sizeof between);
  }
  MPI_Bcast(between, kLong, MPI_BYTE, 0, MPI_COMM_WORLD);
  CHECK(between[0] == 9 && between[kLong - 1] == 9, "the broadcast between came to %d, %d", between[0],
        between[kLong - 1]);
  if (rank == 0) MPI_Startall(kMade, requests);
  MPI_Waitall(kMade, requests, MPI_STATUSES_IGNORE);
  int wrong = 0;
  for (int i = 0; i < kMade; ++i) {
    wrong += data[i][0] != i % 251 + 1 || data[i][length(i) - 1] != i % 251 + 1;
    MPI_Request_free(&requests[i]);
    free(data[i]);
  }
  CHECK(wrong == 0, "%d of %d broadcasts came to something else", wrong, kMade);
  return suite_end("collectives_ahead");
}
