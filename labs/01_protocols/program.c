/* Six messages from rank 0 to rank 1, one after the other, and a seventh, which is yours. variant.h says of each of the
 * six how long it is, whether its receive is posted before it is sent, and whether it is synchronous. Nothing here
 * depends on how long something takes:
 *
 * - "Expected": rank 1 posts the receive, then says so; rank 0 waits for that word before it sends.
 * - "Unexpected": rank 0 sends, and then a word behind it. Messages of one pair do not overtake, so when rank 1 has the
 *   word, the message itself has arrived too, and no receive was posted for it. */
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

/* The seventh message is yours; its receive has room for kOwnRoom bytes. kOwnExpected: whether it is posted before. */
enum { kOwnTag = 7 };

static void begin_own(const char* bytes, MPI_Request* request) {
  /* BLANK 1: in place of this call: one that begins the seventh message as page.md wants it */
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
