// says: part 2b sent no ready message
/* Messages that are longer than their receives, and ready sends without a posted receive. Part 1 is for your
 * predictions: do not change it. Part 2 has the same mistakes; fix them in the blanks. A "word" is an empty message
 * that notifies the other rank. */
#include <mpi.h>
#include <stdlib.h>

#include "variant.h"

enum { kWordTag = 100, kReadyTag = 11, kUnknownTag = 21, kCuredTag = 22, kLongest = 1 << 20 };

static char* bytes;

static void send_word(int to) {
  MPI_Send(NULL, 0, MPI_BYTE, to, kWordTag, MPI_COMM_WORLD);
}
static void receive_word(int from) {
  MPI_Recv(NULL, 0, MPI_BYTE, from, kWordTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Part 1a: message i+1 has kBytes[i] bytes, its receive room for kRoom[i]. */
static void too_long(int rank, int i) {
  MPI_Request request;
  if (rank == 0) {
    if (kExpected[i]) receive_word(1);
    MPI_Isend(bytes, kBytes[i], MPI_BYTE, 1, i + 1, MPI_COMM_WORLD, &request);
    if (!kExpected[i]) send_word(1);
  } else {
    if (!kExpected[i]) receive_word(0); /* sent after the message: when the word has arrived, so has the message */
    MPI_Irecv(bytes, kRoom[i], MPI_BYTE, 0, i + 1, MPI_COMM_WORLD, &request);
    if (kExpected[i]) send_word(0);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Part 1b: a ready send of kReadyBytes[i] bytes, whose receive is posted before the message is sent or after it has
 * arrived. */
static void ready(int rank, int i) {
  if (rank == 0) {
    if (kPosted[i]) receive_word(1);
    MPI_Rsend(bytes, kReadyBytes[i], MPI_BYTE, 1, kReadyTag + i, MPI_COMM_WORLD);
    if (!kPosted[i]) send_word(1);
    return;
  }
  MPI_Request request;
  if (!kPosted[i]) receive_word(0);
  MPI_Irecv(bytes, kLongest, MPI_BYTE, 0, kReadyTag + i, MPI_COMM_WORLD, &request);
  if (kPosted[i]) send_word(0);
  if (!kPosted[i]) MPI_Cancel(&request); /* if the message was dropped, the receive would never complete */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Part 2a: rank 1 does not know the length of the message; it may not use kUnknownBytes. */
static void unknown_length(int rank) {
  if (rank == 0) {
    MPI_Send(bytes, kUnknownBytes, MPI_BYTE, 1, kUnknownTag, MPI_COMM_WORLD);
    return;
  }
  int room = 100; /* too small */
  /* BLANK 1: find the length of the message before it is received, and set room */
  MPI_Status status;
  MPI_Probe(0, kUnknownTag, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_BYTE, &room);
  /* END 1 */
  char* memory = malloc(room);
  MPI_Recv(memory, room, MPI_BYTE, 0, kUnknownTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  free(memory);
}

/* Part 2b: a ready send that is never dropped. */
static void cured_ready(int rank) {
  if (rank == 0) {
    /* BLANK 2: rank 0 must not send before it knows that the receive is posted */
    receive_word(1);
    /* END 2 */
    MPI_Send(bytes, kCuredBytes, MPI_BYTE, 1, kCuredTag, MPI_COMM_WORLD);
    return;
  }
  /* BLANK 3: post the receive of kCuredBytes bytes with tag kCuredTag, notify rank 0, and complete the receive */
  MPI_Request request;
  MPI_Irecv(bytes, kCuredBytes, MPI_BYTE, 0, kCuredTag, MPI_COMM_WORLD, &request);
  send_word(0); /* only now: a receive that is posted after the word may be posted after the message */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  /* END 3 */
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* a call returns its error and the program continues */
  bytes = calloc(kLongest, 1);
  for (int i = 0; i < kBytesCount; ++i) too_long(rank, i);
  for (int i = 0; i < kPostedCount; ++i) ready(rank, i);
  unknown_length(rank);
  cured_ready(rank);
  MPI_Finalize(); /* before free(): a request that was never completed may write there until then */
  free(bytes);
  return 0;
}
