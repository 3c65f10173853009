// Tests of MPI_Cancel of an unmatched receive and of a matched one, and of MPI_Request_free of active requests.
// ranks: 2
#include "check.h"

enum { kTag = 4, kGoTag = 5, kLongBytes = 200000 };

static void cancel_unmatched(int partner) {
  enum { kReceives = 50 };
  int values[kReceives];
  MPI_Request requests[kReceives];
  MPI_Status status;
  int cancelled = 0;
  for (int i = 0; i < kReceives; ++i) {
    values[i] = -7;
    MPI_Irecv(&values[i], 1, MPI_INT, i % 2 ? partner : MPI_ANY_SOURCE, i % 3 ? kTag : MPI_ANY_TAG, MPI_COMM_WORLD,
              &requests[i]);
  }
  for (int i = 0; i < kReceives; ++i) MPI_Cancel(&requests[i]);
  for (int i = 0; i < kReceives; ++i) {
    MPI_Wait(&requests[i], &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled, "receive %d was not cancelled", i);
    CHECK(requests[i] == MPI_REQUEST_NULL, "the cancelled request %d is not null", i);
  }
  // If the cancelled receive were still posted, it would match this message.
  signal_to(partner, kGoTag);
  int value = 0;
  MPI_Recv(&value, 1, MPI_INT, partner, kTag, MPI_COMM_WORLD, &status);
  CHECK(value == 42, "received %d after the cancelled receives", value);
  for (int i = 0; i < kReceives; ++i) CHECK(values[i] == -7, "a cancelled receive got %d", values[i]);
}

// A message to oneself has arrived when its send returns.
static void cancel_after_own_send(int rank) {
  int value = 0, sent = 17, cancelled = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&value, 1, MPI_INT, rank, kTag, MPI_COMM_WORLD, &request);
  MPI_Send(&sent, 1, MPI_INT, rank, kTag, MPI_COMM_WORLD);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(!cancelled && value == 17, "cancelled %d, received %d", cancelled, value);
}

// The message has arrived, so the cancel is too late: the receive completes.
static void cancel_late(int partner, int bytes) {
  unsigned char* body = memory_of((size_t)bytes);
  MPI_Request request;
  MPI_Status status;
  int cancelled = 0;
  memset(body, 0, (size_t)bytes);
  MPI_Irecv(body, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &request);
  signal_to(partner, kGoTag);
  // The sender reports that its synchronous send is complete, so the receive has been matched.
  wait_for(partner, kGoTag);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(!cancelled, "a matched receive of %d bytes was cancelled", bytes);
  check_status("matched receive, cancelled late", &status, partner, kTag, bytes);
  CHECK(pattern_mismatch(body, (size_t)bytes, 3) == (size_t)bytes, "matched receive, cancelled late: wrong body");
  free(body);
}

static void free_active(int rank, int partner) {
  unsigned char* body = memory_of(kLongBytes);
  MPI_Request request;
  if (rank == 0) {
    // Freed while active: the messages must arrive nevertheless. The buffer remains valid until the answer arrives.
    pattern_fill(body, kLongBytes, 8);
    MPI_Isend(body, kLongBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL, "Request_free left the handle");
    MPI_Isend(body, 100, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    wait_for(partner, kGoTag);
  } else {
    MPI_Irecv(body, kLongBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    unsigned char small[100];
    MPI_Recv(small, 100, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(pattern_mismatch(small, 100, 8) == 100, "message behind a freed receive: wrong body");
    // The completion of a freed receive is not reported. The program reads its last byte between calls that make
    // progress.
    volatile unsigned char* last = &body[kLongBytes - 1];
    int flag = 0;
    for (double until = MPI_Wtime() + 60; *last != pattern_byte(8, kLongBytes - 1) && MPI_Wtime() < until;)
      MPI_Iprobe(partner, kTag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(*last == pattern_byte(8, kLongBytes - 1), "a freed receive never completed");
    signal_to(partner, kGoTag);
  }
  free(body);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), partner = partner_of(rank);
  static const int kSizes[] = {0, 8, 40000};
  if (rank == 1) {
    const int value = 42;
    wait_for(partner, kGoTag);
    MPI_Send(&value, 1, MPI_INT, partner, kTag, MPI_COMM_WORLD);
    for (int i = 0; i < 3; ++i) {
      unsigned char* body = memory_of((size_t)kSizes[i]);
      pattern_fill(body, (size_t)kSizes[i], 3);
      wait_for(partner, kGoTag);
      MPI_Ssend(body, kSizes[i], MPI_BYTE, partner, kTag, MPI_COMM_WORLD);
      signal_to(partner, kGoTag);
      free(body);
    }
  } else {
    cancel_unmatched(partner);
    cancel_after_own_send(rank);
    for (int i = 0; i < 3; ++i) cancel_late(partner, kSizes[i]);
  }
  free_active(rank, partner);
  return suite_end("cancel");
}
