// Tests of MPI_Cancel of sends: a message without a receive is either returned by the receiver or transferred
// completely, never both.
// ranks: 2
// timeout: 30
// sanitized: shm epoll
#include "check.h"

enum { kTag = 5, kGoTag = 6, kLongBytes = 300000 };

static int cancelled(MPI_Status* status) {
  int flag = -1;
  MPI_Test_cancelled(status, &flag);
  return flag;
}

// Sends of either kind, cancelled before the receiver posts a matching receive; the receiver is in MPI_Recv of another
// tag.
static void unmatched(int rank, int bytes, int synchronous) {
  unsigned char* body = memory_of((size_t)bytes);
  int back = -1;
  if (rank == 0) {
    MPI_Request request;
    MPI_Status status;
    pattern_fill(body, (size_t)bytes, 4);
    if (synchronous) {
      MPI_Issend(body, bytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &request);
    } else {
      MPI_Isend(body, bytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &request);
    }
    MPI_Cancel(&request);
    if (on_margay()) {
      // Completes although no receive is posted. MPICH returns no cancelled send, so it waits for the receive below.
      MPI_Wait(&request, &status);
      back = cancelled(&status);
      CHECK(back == 1, "%d bytes, synchronous %d: not given back", bytes, synchronous);
      MPI_Send(&back, 1, MPI_INT, 1, kGoTag, MPI_COMM_WORLD);
    } else {
      back = 0;
      MPI_Send(&back, 1, MPI_INT, 1, kGoTag, MPI_COMM_WORLD);
      MPI_Wait(&request, &status);
      CHECK(cancelled(&status) == 0, "MPICH gave a send back");
    }
  } else {
    MPI_Recv(&back, 1, MPI_INT, 0, kGoTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int flag = 1;
    if (back) {
      MPI_Iprobe(0, kTag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      CHECK(!flag, "a message that was given back is here");
    } else {
      MPI_Recv(body, bytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(pattern_mismatch(body, (size_t)bytes, 4) == (size_t)bytes, "wrong body");
    }
    signal_to(0, kGoTag);
  }
  if (rank == 0) wait_for(1, kGoTag);  // before the next case's message
  free(body);
}

// The receiver posts, probes or receives meanwhile: whichever of the two is first, sender and receiver agree.
static void race(int rank, int rounds) {
  int body[100];
  for (int round = 0; round < rounds; ++round) {
    const int mark = -1;
    if (rank == 0) {
      MPI_Request request;
      MPI_Status status;
      for (int i = 0; i < 100; ++i) body[i] = round;
      MPI_Issend(body, 100, MPI_INT, 1, kTag, MPI_COMM_WORLD, &request);
      MPI_Cancel(&request);
      MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      // A second message, so that the receive completes whether or not the first was cancelled.
      if (cancelled(&status)) MPI_Send(&mark, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
    } else {
      MPI_Status status;
      int count = 0;
      MPI_Recv(body, 100, MPI_INT, 0, kTag, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_INT, &count);
      CHECK((count == 100 && body[99] == round) || (count == 1 && body[0] == mark), "round %d: %d, %d", round, count,
            body[0]);
    }
  }
}

// A complete send remains complete.
static void complete_already(int rank) {
  int value = 7;
  MPI_Request request;
  MPI_Status status;
  if (rank == 0) {
    MPI_Issend(&value, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, &request);
    wait_for(1, kGoTag);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    CHECK(cancelled(&status) == 0, "a received message was given back");
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    signal_to(0, kGoTag);
  }
}

// A matched probe has taken the message, so it belongs to the receiver.
static void probed(int rank) {
  int value = 8;
  MPI_Request request;
  MPI_Status status;
  if (rank == 0) {
    MPI_Issend(&value, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, &request);
    wait_for(1, kGoTag);
    MPI_Cancel(&request);
    signal_to(1, kGoTag);
    MPI_Wait(&request, &status);
    CHECK(cancelled(&status) == 0, "a probed message was given back");
  } else {
    MPI_Message message;
    MPI_Mprobe(0, kTag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    signal_to(0, kGoTag);
    wait_for(0, kGoTag);
    value = 0;
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(value == 8, "a probed message has %d", value);
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank();
  unmatched(rank, 0, 1);
  unmatched(rank, 1000, 1);
  unmatched(rank, kLongBytes, 1);
  unmatched(rank, kLongBytes, 0);
  race(rank, 200);
  complete_already(rank);
  probed(rank);
  return suite_end("cancel_send");
}
