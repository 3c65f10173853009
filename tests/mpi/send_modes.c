// Tests of every send mode, at the sizes where protocols change, with the receive posted before, after, and in a race.
// ranks: 2 3 4
// reference: 2
#include "check.h"

enum Mode { kSend, kIsend, kSsend, kIssend, kRsend, kIrsend, kBsend, kIbsend, kModes };
enum Order { kPostedBefore, kPostedAfter, kRace, kOrders };
enum { kDataTag = 5, kReadyTag = 6 };

static const char* const kModeNames[kModes] = {"Send",  "Isend",  "Ssend", "Issend",
                                               "Rsend", "Irsend", "Bsend", "Ibsend"};
static const char* const kOrderNames[kOrders] = {"before", "after", "race"};
static const int kSizes[] = {0,     1,     39,    40,    41,    4095,          4096,    4097,         16383,
                             16384, 16385, 65535, 65536, 65537, (1 << 20) - 1, 1 << 20, (1 << 20) + 1};
enum { kSizeCount = sizeof kSizes / sizeof kSizes[0] };

static int needs_receive(enum Mode mode) {
  return mode == kRsend || mode == kIrsend;
}

static void send_one(enum Mode mode, const void* body, int bytes, int to) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  switch (mode) {
    case kSend:
      MPI_Send(body, bytes, MPI_BYTE, to, kDataTag, MPI_COMM_WORLD);
      return;
    case kSsend:
      MPI_Ssend(body, bytes, MPI_BYTE, to, kDataTag, MPI_COMM_WORLD);
      return;
    case kRsend:
      MPI_Rsend(body, bytes, MPI_BYTE, to, kDataTag, MPI_COMM_WORLD);
      return;
    case kBsend:
      MPI_Bsend(body, bytes, MPI_BYTE, to, kDataTag, MPI_COMM_WORLD);
      return;
    case kIsend:
      MPI_Isend(body, bytes, MPI_BYTE, to, kDataTag, MPI_COMM_WORLD, &request);
      break;
    case kIssend:
      MPI_Issend(body, bytes, MPI_BYTE, to, kDataTag, MPI_COMM_WORLD, &request);
      break;
    case kIrsend:
      MPI_Irsend(body, bytes, MPI_BYTE, to, kDataTag, MPI_COMM_WORLD, &request);
      break;
    default:
      MPI_Ibsend(body, bytes, MPI_BYTE, to, kDataTag, MPI_COMM_WORLD, &request);
      break;
  }
  MPI_Wait(&request, &status);
  CHECK(request == MPI_REQUEST_NULL, "%s: request not null after Wait", kModeNames[mode]);
}

static void sender(enum Mode mode, enum Order order, int bytes, int to, unsigned seed, unsigned char* body) {
  pattern_fill(body, (size_t)bytes, seed);
  if (order == kPostedBefore) wait_for(to, kReadyTag);
  send_one(mode, body, bytes, to);
  // The sender may reuse the buffer: data written now must not reach the receiver.
  memset(body, 0xee, (size_t)bytes);
  // Two rounds never overlap, so a ready send matches only its own receive.
  wait_for(to, kReadyTag);
}

static void receiver(enum Mode mode, enum Order order, int bytes, int from, unsigned seed, unsigned char* body) {
  char what[80];
  snprintf(what, sizeof what, "%s of %d bytes, posted %s", kModeNames[mode], bytes, kOrderNames[order]);
  MPI_Status status;
  MPI_Request request;
  memset(body, 0, (size_t)bytes + 1);
  body[bytes] = 0xa5;
  if (order == kPostedBefore) {
    MPI_Irecv(body, bytes, MPI_BYTE, from, kDataTag, MPI_COMM_WORLD, &request);
    signal_to(from, kReadyTag);
    MPI_Wait(&request, &status);
  } else {
    if (order == kPostedAfter) {
      MPI_Probe(from, kDataTag, MPI_COMM_WORLD, &status);
      check_status(what, &status, from, kDataTag, bytes);
    }
    MPI_Recv(body, bytes, MPI_BYTE, from, kDataTag, MPI_COMM_WORLD, &status);
  }
  check_status(what, &status, from, kDataTag, bytes);
  const size_t wrong = pattern_mismatch(body, (size_t)bytes, seed);
  CHECK(wrong == (size_t)bytes, "%s: byte %zu is wrong", what, wrong);
  CHECK(body[bytes] == 0xa5, "%s: wrote past the end", what);
  signal_to(from, kReadyTag);
}

// A synchronous send must not complete before its receive has started (MPI 4.0, section 3.4).
static void check_synchronous(int rank, int partner, int bytes, unsigned char* body) {
  MPI_Status status;
  if (rank > partner) {
    wait_for(partner, kReadyTag);
    MPI_Recv(body, bytes, MPI_BYTE, partner, kDataTag, MPI_COMM_WORLD, &status);
    CHECK(pattern_mismatch(body, (size_t)bytes, 99) == (size_t)bytes, "synchronous %d bytes: wrong body", bytes);
    return;
  }
  MPI_Request request;
  pattern_fill(body, (size_t)bytes, 99);
  MPI_Issend(body, bytes, MPI_BYTE, partner, kDataTag, MPI_COMM_WORLD, &request);
  int flag = 0;
  const double until = MPI_Wtime() + 0.003;
  while (!flag && MPI_Wtime() < until) MPI_Test(&request, &flag, &status);
  CHECK(!flag, "synchronous send of %d bytes completed without a receive", bytes);
  signal_to(partner, kReadyTag);
  MPI_Wait(&request, &status);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), partner = partner_of(rank), largest = kSizes[kSizeCount - 1];
  unsigned char* body = memory_of((size_t)largest + 1);
  const int buffer_bytes = 2 * (largest + MPI_BSEND_OVERHEAD);
  void* buffer = memory_of((size_t)buffer_bytes);
  MPI_Buffer_attach(buffer, buffer_bytes);
  int messages = 0;
  for (int mode = 0; mode < kModes && partner >= 0; ++mode)
    for (int order = 0; order < kOrders; ++order) {
      if (needs_receive(mode) && order != kPostedBefore) continue;
      for (int i = 0; i < kSizeCount; ++i)
        for (int direction = 0; direction < 2; ++direction, ++messages) {
          const unsigned seed = (unsigned)messages;
          if ((rank < partner) == (direction == 0))
            sender(mode, order, kSizes[i], partner, seed, body);
          else
            receiver(mode, order, kSizes[i], partner, seed, body);
        }
      if (rank == 0) printf("MPI_%s, receive posted %s: %d sizes\n", kModeNames[mode], kOrderNames[order], kSizeCount);
    }
  for (int i = 0; i < kSizeCount && partner >= 0; ++i) check_synchronous(rank, partner, kSizes[i], body);
  MPI_Buffer_detach(&buffer, &(int){0});
  free(buffer);
  free(body);
  return suite_end("send_modes");
}
