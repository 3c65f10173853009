// Tests of persistent requests in every mode: Start, Startall, the inactive state between rounds, Cancel, Request_free.
// ranks: 2 4
// reference: 2
#include "check.h"

enum { kTag = 10, kReadyTag = 90, kModes = 4, kRounds = 5 };

static const int kSizes[] = {0, 40, 41, 16384, 16385, 200000};
enum { kSizeCount = sizeof kSizes / sizeof kSizes[0] };

static void init_send(int mode, void* body, int bytes, int to, MPI_Request* request) {
  switch (mode) {
    case 0:
      MPI_Send_init(body, bytes, MPI_BYTE, to, kTag + mode, MPI_COMM_WORLD, request);
      break;
    case 1:
      MPI_Ssend_init(body, bytes, MPI_BYTE, to, kTag + mode, MPI_COMM_WORLD, request);
      break;
    case 2:
      MPI_Rsend_init(body, bytes, MPI_BYTE, to, kTag + mode, MPI_COMM_WORLD, request);
      break;
    default:
      MPI_Bsend_init(body, bytes, MPI_BYTE, to, kTag + mode, MPI_COMM_WORLD, request);
      break;
  }
}

static void inactive_is_complete(MPI_Request* request) {
  int flag = 0;
  MPI_Status status;
  MPI_Test(request, &flag, &status);
  CHECK(flag, "Test of an inactive persistent request is not complete");
  check_empty_status("Test of an inactive request", &status);
  MPI_Wait(request, &status);
  check_empty_status("Wait for an inactive request", &status);
  CHECK(*request != MPI_REQUEST_NULL, "an inactive persistent request became null");
}

static void one_at_a_time(int rank, int partner, int mode, int bytes, unsigned char* body) {
  MPI_Request request;
  MPI_Status status;
  const int sends = rank < partner;
  if (sends)
    init_send(mode, body, bytes, partner, &request);
  else
    MPI_Recv_init(body, bytes, MPI_BYTE, partner, kTag + mode, MPI_COMM_WORLD, &request);
  inactive_is_complete(&request);
  for (unsigned round = 0; round < kRounds; ++round) {
    if (sends) {
      pattern_fill(body, (size_t)bytes, round);
      wait_for(partner, kReadyTag);
      MPI_Start(&request);
      MPI_Wait(&request, &status);
    } else {
      memset(body, 0, (size_t)bytes);
      MPI_Start(&request);
      signal_to(partner, kReadyTag);
      MPI_Wait(&request, &status);
      check_status("persistent receive", &status, partner, kTag + mode, bytes);
      CHECK(pattern_mismatch(body, (size_t)bytes, round) == (size_t)bytes, "mode %d, %d bytes, round %u: wrong body",
            mode, bytes, round);
    }
    CHECK(request != MPI_REQUEST_NULL, "the persistent request became null in round %u", round);
    inactive_is_complete(&request);
  }
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL, "Request_free left the handle");
}

// A synchronous send does not complete before its receive; a buffered one does, whatever its size. Both with
// an int as the count and with a large count.
static void modes_hold(int rank, int partner, unsigned char* body) {
  enum { kSynchronous, kSynchronousCount, kBuffered, kBufferedCount, kCalls };
  for (int call = 0; call < kCalls; ++call) {
    const int bytes = call < kBuffered ? 8 : 200000;
    if (rank > partner) {
      wait_for(partner, kReadyTag);
      MPI_Recv(body, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      continue;
    }
    MPI_Request request;
    int flag = 0;
    if (call == kSynchronous) MPI_Ssend_init(body, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &request);
    if (call == kSynchronousCount) MPI_Ssend_init_c(body, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &request);
    if (call == kBuffered) MPI_Bsend_init(body, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &request);
    if (call == kBufferedCount) MPI_Bsend_init_c(body, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    for (int i = 0; i < 20 && !flag; ++i) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(flag == (call >= kBuffered), "call %d: over without its receive: %d", call, flag);
    signal_to(partner, kReadyTag);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  }
}

// All sizes and all modes of both directions in one Startall; receives come first so that ready sends are valid.
static void all_at_once(int partner) {
  enum { kCount = kSizeCount * kModes };
  MPI_Request receives[kCount], sends[kCount];
  unsigned char* in[kCount];
  unsigned char* out[kCount];
  for (int i = 0; i < kCount; ++i) {
    const int bytes = kSizes[i / kModes], mode = i % kModes;
    in[i] = memory_of((size_t)bytes);
    out[i] = memory_of((size_t)bytes);
    MPI_Recv_init(in[i], bytes, MPI_BYTE, partner, kTag + mode, MPI_COMM_WORLD, &receives[i]);
    init_send(mode, out[i], bytes, partner, &sends[i]);
  }
  for (unsigned round = 0; round < kRounds; ++round) {
    MPI_Startall(kCount, receives);
    signal_to(partner, kReadyTag);
    wait_for(partner, kReadyTag);
    for (unsigned i = 0; i < kCount; ++i) pattern_fill(out[i], (size_t)kSizes[i / kModes], i + 100 * round);
    MPI_Startall(kCount, sends);
    MPI_Status statuses[kCount];
    MPI_Waitall(kCount, receives, statuses);
    MPI_Waitall(kCount, sends, MPI_STATUSES_IGNORE);
    for (unsigned i = 0; i < kCount; ++i) {
      const int bytes = kSizes[i / kModes];
      check_status("Startall", &statuses[i], partner, kTag + (int)i % kModes, bytes);
      CHECK(pattern_mismatch(in[i], (size_t)bytes, i + 100 * round) == (size_t)bytes, "Startall: message %u is wrong",
            i);
    }
  }
  for (int i = 0; i < kCount; ++i) {
    MPI_Request_free(&receives[i]);
    MPI_Request_free(&sends[i]);
    free(in[i]);
    free(out[i]);
  }
}

// Cancel is an error while the request is inactive: before the first start, and after the call that completes it.
static void cancel_inactive(int partner) {
  int in = 0, out = 6, cancelled = -1;
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Recv_init(&in, 1, MPI_INT, partner, kTag, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(&out, 1, MPI_INT, partner, kTag, MPI_COMM_WORLD, &requests[1]);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2; ++i) {
      const int code = MPI_Cancel(&requests[i]);
      CHECK(class_of(code) == MPI_ERR_REQUEST, "round %d: Cancel of an inactive request: class %d", round,
            class_of(code));
      inactive_is_complete(&requests[i]);
    }
    MPI_Startall(2, requests);
    if (round == 2) break;
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in == 6, "round %d: received %d", round, in);
    in = 0;
  }
  // The request is complete but not inactive yet: the cancel is too late, and not an error.
  for (int flag = 0; !flag;) MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
  CHECK(MPI_Cancel(&requests[0]) == MPI_SUCCESS, "Cancel of a complete request that is still active");
  MPI_Wait(&requests[0], &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(!cancelled && in == 6, "Cancel of a complete request: cancelled %d, received %d", cancelled, in);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), partner = partner_of(rank);
  const int buffer_bytes = 1 << 20;
  void* buffer = memory_of((size_t)buffer_bytes);
  MPI_Buffer_attach(buffer, buffer_bytes);
  unsigned char* body = memory_of(200000);
  for (int mode = 0; mode < kModes; ++mode)
    for (int i = 0; i < kSizeCount; ++i) one_at_a_time(rank, partner, mode, kSizes[i], body);
  modes_hold(rank, partner, body);
  all_at_once(partner);
  cancel_inactive(partner);
  int detached_bytes = 0;
  MPI_Buffer_detach(&buffer, &detached_bytes);
  free(buffer);
  free(body);
  return suite_end("persistent");
}
