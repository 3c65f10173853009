/* Six messages from rank 0 to rank 1, one after the other, and a seventh, which you write. For each of the six,
 * variant.h gives its length, whether its receive is posted before it is sent, and whether it is synchronous. Empty
 * messages, the "words", enforce this order; nothing depends on time:
 *
 * - "Expected": rank 1 posts the receive, then sends a word; rank 0 waits for the word before it sends the message.
 * - "Unexpected": rank 0 sends the message, then a word. Messages of a pair do not overtake, so when rank 1 has the
 *   word, the message has arrived too, and its receive is not posted yet. */
#include <mpi.h>
#include <stdlib.h>

#include "variant.h"

enum { kWordTag = 100 };

static void send_message(int i, char* bytes) {
  MPI_Request request;
  if (kExpected[i]) MPI_Recv(NULL, 0, MPI_BYTE, 1, kWordTag + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (kSynchronous[i])
    MPI_Issend(bytes, kBytes[i], MPI_BYTE, 1, i + 1, MPI_COMM_WORLD, &request);
  else
    MPI_Isend(bytes, kBytes[i], MPI_BYTE, 1, i + 1, MPI_COMM_WORLD, &request);
  if (!kExpected[i]) MPI_Send(NULL, 0, MPI_BYTE, 1, kWordTag + i, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive_message(int i, char* bytes) {
  MPI_Request request;
  if (!kExpected[i]) MPI_Recv(NULL, 0, MPI_BYTE, 0, kWordTag + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(bytes, kBytes[i], MPI_BYTE, 0, i + 1, MPI_COMM_WORLD, &request);
  if (kExpected[i]) MPI_Send(NULL, 0, MPI_BYTE, 0, kWordTag + i, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The seventh message, which you write. Its receive has room for kOwnRoom bytes, and is posted before the message is
 * sent if kOwnExpected. */
enum { kOwnTag = 7 };

static void begin_own(const char* bytes, MPI_Request* request) {
  /* BLANK 1: replace this call by the one that starts the seventh message as page.md specifies */
  MPI_Isend(bytes, 1, MPI_BYTE, 1, kOwnTag, MPI_COMM_WORLD, request);
  /* END 1 */
}

static void own_message(int rank) {
  char* bytes = calloc(kOwnRoom, 1);
  MPI_Request request;
  if (rank == 0) {
    if (kOwnExpected) MPI_Recv(NULL, 0, MPI_BYTE, 1, kWordTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    begin_own(bytes, &request);
    if (!kOwnExpected) MPI_Send(NULL, 0, MPI_BYTE, 1, kWordTag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    if (!kOwnExpected) MPI_Recv(NULL, 0, MPI_BYTE, 0, kWordTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(bytes, kOwnRoom, MPI_BYTE, 0, kOwnTag, MPI_COMM_WORLD, &request);
    if (kOwnExpected) MPI_Send(NULL, 0, MPI_BYTE, 0, kWordTag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free(bytes);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < kBytesCount; ++i) {
    char* bytes = calloc(kBytes[i], 1);
    if (rank == 0) send_message(i, bytes);
    if (rank == 1) receive_message(i, bytes);
    free(bytes);
  }
  own_message(rank);
  MPI_Finalize();
  return 0;
}
