// Tests of nonblocking sends that complete in the call that starts them: statuses, freed handles and communicators,
// cancels, restarted sends, arrays with other requests. Such a send has no request in the device; the program must see
// no difference.
// ranks: 2
#include "check.h"

enum { kTag = 3, kRow = 40, kLongBytes = 300000 };

static void check_sent(const MPI_Status* status, const char* what) {
  int cancelled = -1;
  MPI_Test_cancelled(status, &cancelled);
  CHECK(cancelled == 0, "%s: cancelled is %d", what, cancelled);
}

static void expect_int(int value, int tag, MPI_Comm communicator, const char* what) {
  int got = -1;
  MPI_Recv(&got, 1, MPI_INT, 0, tag, communicator, MPI_STATUS_IGNORE);
  CHECK(got == value, "%s: received %d, not %d", what, got, value);
}

// The request holds the last reference to a freed communicator.
static void freed_communicator(int rank) {
  for (int way = 0; way < 4; ++way) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (rank == 1) {
      expect_int(way, kTag, copy, "on a communicator that its sender freed");
      MPI_Comm_free(&copy);
      continue;
    }
    MPI_Request request;
    MPI_Status status;
    int flag = 0;
    memset(&status, -1, sizeof status);
    MPI_Isend(&way, 1, MPI_INT, 1, kTag, copy, &request);
    MPI_Comm_free(&copy);
    if (way == 0) MPI_Wait(&request, &status);
    if (way == 1) MPI_Request_free(&request);
    if (way == 2) MPI_Waitall(1, &request, &status);
    if (way == 3) {
      MPI_Request_get_status(request, &flag, &status);
      if (flag) check_sent(&status, "a status that was asked for");
      while (!flag || request != MPI_REQUEST_NULL) MPI_Test(&request, &flag, &status);
    }
    CHECK(request == MPI_REQUEST_NULL, "the handle is not null after way %d", way);
    if (way != 1) check_sent(&status, "on a freed communicator");
  }
}

static void cancelled(int rank) {
  if (rank == 1) {
    expect_int(17, kTag, MPI_COMM_WORLD, "of a send that was cancelled too late");
    return;
  }
  int value = 17;
  MPI_Request request;
  MPI_Status status;
  MPI_Isend(&value, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  check_sent(&status, "after a cancel");
}

static void again(int rank) {
  int value = 0;
  MPI_Request request;
  if (rank == 1) {
    for (int i = 0; i < kRow; ++i) expect_int(i, kTag, MPI_COMM_WORLD, "of a persistent send");
    return;
  }
  MPI_Send_init(&value, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, &request);
  for (; value < kRow; ++value) {
    MPI_Status status;
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    check_sent(&status, "of a persistent send");
    CHECK(request != MPI_REQUEST_NULL, "the persistent request is gone after start %d", value);
  }
  MPI_Request_free(&request);
}

// Short and long ones, to MPI_PROC_NULL, and receives: each status is its own, and each handle becomes null.
static void mixed_row(int rank) {
  static char body[kRow][kLongBytes];
  MPI_Request requests[kRow];
  MPI_Status statuses[kRow];
  for (int i = 0; i < kRow; ++i) {
    const int bytes = i % 4 == 3 ? kLongBytes : 8;
    const int peer = i % 4 == 1 ? MPI_PROC_NULL : 1 - rank;
    memset(body[i], 'a' + i % 26, (size_t)bytes);
    if (rank == 0) {
      MPI_Isend(body[i], bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[i]);
    } else {
      memset(body[i], 0, (size_t)bytes);
      MPI_Irecv(body[i], bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[i]);
    }
  }
  int ended = 0;
  while (ended < kRow) {
    int indices[kRow], some = 0;
    MPI_Waitsome(kRow, requests, &some, indices, statuses);
    for (int at = 0; at < some; ++at) {
      const int i = indices[at];
      if (rank == 0) {
        check_sent(&statuses[at], "in a row");
      } else if (i % 4 != 1) {
        CHECK(statuses[at].MPI_TAG == i && body[i][7] == 'a' + i % 26, "message %d has tag %d and byte %d", i,
              statuses[at].MPI_TAG, body[i][7]);
      }
      CHECK(requests[i] == MPI_REQUEST_NULL, "handle %d is not null", i);
    }
    ended += some;
  }
}

// Many such sends, completed one by one in the reverse order.
static void many(int rank) {
  MPI_Request requests[kRow];
  int value = 5;
  for (int i = 0; i < kRow; ++i) {
    if (rank == 0) {
      MPI_Isend(&value, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, &requests[i]);
    } else {
      expect_int(5, kTag, MPI_COMM_WORLD, "of many");
    }
  }
  for (int i = rank == 0 ? kRow : 0; i-- > 0;) {
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    CHECK(requests[i] == MPI_REQUEST_NULL, "handle %d of many is not null", i);
    for (int k = 0; k < i; ++k) CHECK(requests[k] != MPI_REQUEST_NULL, "handle %d ended with %d", k, i);
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 20; ++round) {
    freed_communicator(rank);
    cancelled(rank);
    again(rank);
    mixed_row(rank);
    many(rank);
  }
  return suite_end("sent at once");
}
