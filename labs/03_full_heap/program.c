/* More unexpected messages than the heap has room for. Parts 1 and 2 are for your predictions: do not change them.
 * Part 3 has the same fault; fix it. A "word" is an empty message that notifies the other rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "variant.h"

enum { kWordTag = 900, kUrgentTag = 901, kLongTag = 301, kLateTag = 601, kMost = 1024 };

static char* bytes;
static MPI_Request requests[kMost];

static void send_word(int to) {
  MPI_Send(NULL, 0, MPI_BYTE, to, kWordTag, MPI_COMM_WORLD);
}
static void receive_word(int from) {
  MPI_Recv(NULL, 0, MPI_BYTE, from, kWordTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Part 1: kCount unexpected messages of kBytes bytes with tags 1, 2, 3, ..., and after them an urgent one, whose
 * receive is posted before any of them is sent. */
static void flood(int rank) {
  if (rank == 0) {
    receive_word(1);
    for (int i = 0; i < kCount; ++i) MPI_Isend(bytes, kBytes, MPI_BYTE, 1, 1 + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Send(NULL, 0, MPI_BYTE, 1, kUrgentTag, MPI_COMM_WORLD);
    MPI_Waitall(kCount, requests, MPI_STATUSES_IGNORE);
    return;
  }
  MPI_Request urgent;
  MPI_Irecv(NULL, 0, MPI_BYTE, 0, kUrgentTag, MPI_COMM_WORLD, &urgent);
  send_word(0);
  MPI_Wait(&urgent, MPI_STATUS_IGNORE);
  for (int i = 0; i < kCount; ++i) MPI_Recv(bytes, kBytes, MPI_BYTE, 0, 1 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Part 2: kCount messages of kLongBytes bytes each, with tags from kLongTag on, and a word after them. */
static void flood_of_long_ones(int rank) {
  for (int i = 0; i < kCount && rank == 0; ++i)
    MPI_Isend(bytes, kLongBytes, MPI_BYTE, 1, kLongTag + i, MPI_COMM_WORLD, &requests[i]);
  if (rank == 0) {
    send_word(1);
    MPI_Waitall(kCount, requests, MPI_STATUSES_IGNORE);
    return;
  }
  receive_word(0);
  for (int i = 0; i < kCount; ++i)
    MPI_Recv(bytes, kLongBytes, MPI_BYTE, 0, kLongTag + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Part 3: part 1's messages, with tags from kLateTag on and distinct bytes in each. Rank 0 does not begin before rank 1
 * sends it a word. Message i must be received into part(i). */
static char* part(int i) {
  return bytes + (size_t)i * kBytes;
}

static char byte_of(int i, int at) {
  return (char)(1 + (i * 7 + at) % 100);
}

static int open_requests(void) {
  int open = 0;
  for (int i = 0; i < kCount; ++i) open += requests[i] != MPI_REQUEST_NULL;
  return open;
}

static int wrong_messages(void) {
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) {
    int same = 0;
    while (same < kBytes && part(i)[same] == byte_of(i, same)) ++same;
    wrong += same < kBytes;
  }
  return wrong;
}

static void no_flood(int rank) {
  if (rank == 0) {
    for (int i = 0; i < kCount; ++i)
      for (int at = 0; at < kBytes; ++at) part(i)[at] = byte_of(i, at);
    receive_word(1);
    for (int i = 0; i < kCount; ++i)
      MPI_Isend(part(i), kBytes, MPI_BYTE, 1, kLateTag + i, MPI_COMM_WORLD, &requests[i]);
    send_word(1);
    MPI_Waitall(kCount, requests, MPI_STATUSES_IGNORE);
    return;
  }
  memset(bytes, 0, (size_t)kCount * kBytes);
  for (int i = 0; i < kCount; ++i) requests[i] = MPI_REQUEST_NULL;
  /* BLANK 1: whatever can be done before a message is sent: its room is part(i), its request requests[i] */
  /* END 1 */
  const int begun = open_requests();
  send_word(0);
  receive_word(0);
  /* BLANK 2: replace these receives: complete what BLANK 1 began */
  for (int i = 0; i < kCount; ++i)
    MPI_Recv(part(i), kBytes, MPI_BYTE, 0, kLateTag + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  /* END 2 */
  printf("part 3: %d requests begun, %d not completed, %d messages are not in their part(i)\n", begun, open_requests(),
         wrong_messages());
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bytes = calloc((size_t)kCount * kBytes + kLongBytes, 1);
  flood(rank);
  flood_of_long_ones(rank);
  no_flood(rank);
  MPI_Finalize(); /* before free(): a request that was never completed may write there until then */
  free(bytes);
  return 0;
}
