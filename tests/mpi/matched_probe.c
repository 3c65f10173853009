// Tests of Mprobe, Improbe, Mrecv, Imrecv: a matched message is received only by its handle; other receives do not
// match it.
// ranks: 2 4
// reference: 2
#include "check.h"

enum { kGoTag = 40, kTag = 7, kLargest = 100000 };

static const int kSizes[] = {0, 4, 40, 41, 16384, 16385, kLargest};
enum { kSizeCount = sizeof kSizes / sizeof kSizes[0] };

static MPI_Message find(int partner, int blocking, int any, int bytes) {
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  int flag = 0;
  const int from = any ? MPI_ANY_SOURCE : partner, with = any ? MPI_ANY_TAG : kTag;
  if (blocking)
    MPI_Mprobe(from, with, MPI_COMM_WORLD, &message, &status);
  else
    while (!flag) MPI_Improbe(from, with, MPI_COMM_WORLD, &flag, &message, &status);
  check_status("matched probe", &status, partner, kTag, bytes);
  CHECK(message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC, "matched probe gave no message");
  return message;
}

// Two equal envelopes: the probe matches the first, and a receive after it must match the second.
static void receive_pair(int partner, int bytes, int blocking, int any, unsigned seed) {
  unsigned char* first = memory_of((size_t)bytes);
  unsigned char* second = memory_of((size_t)bytes);
  MPI_Status status;
  MPI_Request request;
  MPI_Message message = find(partner, blocking, any, bytes);
  MPI_Recv(second, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &status);
  check_status("receive behind a matched message", &status, partner, kTag, bytes);
  if (any) {
    MPI_Mrecv(first, bytes, MPI_BYTE, &message, &status);
  } else {
    MPI_Imrecv(first, bytes, MPI_BYTE, &message, &request);
    MPI_Wait(&request, &status);
  }
  check_status("matched receive", &status, partner, kTag, bytes);
  CHECK(message == MPI_MESSAGE_NULL, "the message handle is not null after its receive");
  const size_t length = (size_t)bytes;
  CHECK(pattern_mismatch(first, length, seed) == length, "matched message of %d bytes: wrong body", bytes);
  CHECK(pattern_mismatch(second, length, seed + 1) == length, "message of %d bytes behind it: wrong body", bytes);
  free(first);
  free(second);
}

static void send_pair(int partner, int bytes, unsigned seed) {
  unsigned char* body[2] = {memory_of((size_t)bytes), memory_of((size_t)bytes)};
  MPI_Request requests[2];
  for (unsigned i = 0; i < 2; ++i) {
    pattern_fill(body[i], (size_t)bytes, seed + i);
    MPI_Isend(body[i], bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  free(body[0]);
  free(body[1]);
}

static void with_proc_null(void) {
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Request request;
  int flag = 0, value = 5;
  MPI_Mprobe(MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &message, &status);
  CHECK(message == MPI_MESSAGE_NO_PROC, "Mprobe of PROC_NULL gave another message");
  check_status("Mprobe of PROC_NULL", &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
  check_status("Mrecv of PROC_NULL", &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  CHECK(message == MPI_MESSAGE_NULL, "Mrecv of PROC_NULL left the handle");
  MPI_Improbe(MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &flag, &message, &status);
  CHECK(flag && message == MPI_MESSAGE_NO_PROC, "Improbe of PROC_NULL");
  MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
  MPI_Wait(&request, &status);
  check_status("Imrecv of PROC_NULL", &status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  CHECK(value == 5, "a receive from PROC_NULL wrote %d", value);
  MPI_Improbe(MPI_ANY_SOURCE, kTag + 1, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  CHECK(!flag, "Improbe found a message that no rank sent");
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), partner = partner_of(rank);
  with_proc_null();
  unsigned seed = 0;
  for (int i = 0; i < kSizeCount; ++i)
    for (int way = 0; way < 4; ++way, seed += 2) {
      if (rank < partner) {
        send_pair(partner, kSizes[i], seed);
        wait_for(partner, kGoTag);
      } else {
        receive_pair(partner, kSizes[i], way < 2, way % 2, seed);
        signal_to(partner, kGoTag);
      }
    }
  return suite_end("matched_probe");
}
