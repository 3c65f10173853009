// Tests of buffered sends: the buffer's bounds, its reuse, and MPI_Buffer_detach, which waits for the messages in the
// buffer.
// ranks: 2 4
// reference: 2
#include "check.h"

enum { kTag = 3, kGoTag = 4, kSlots = 4, kBytes = 30000 };

// A buffer of exactly kSlots messages accepts kSlots at once; a message larger than the whole buffer is an error.
static void fill_to_the_brim(int partner) {
  int packed = kBytes + MPI_BSEND_OVERHEAD;
  const int buffer_bytes = kSlots * packed;
  void* buffer = memory_of((size_t)buffer_bytes);
  unsigned char* body = memory_of(kBytes);
  MPI_Buffer_attach(buffer, buffer_bytes);
  // Synchronous mode would deadlock here, because no rank receives before the signal below.
  for (unsigned i = 0; i < kSlots; ++i) {
    pattern_fill(body, kBytes, i);
    MPI_Bsend(body, kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD);
  }
  memset(body, 0, kBytes);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int too_large =
      MPI_Bsend(body, buffer_bytes + 1 > 0 ? kBytes * (kSlots + 1) : 0, MPI_BYTE, partner, kTag + 9, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  CHECK(class_of(too_large) == MPI_ERR_BUFFER, "a message larger than the buffer: class %d", class_of(too_large));
  signal_to(partner, kGoTag);
  void* detached = NULL;
  int detached_bytes = -1;
  MPI_Buffer_detach(&detached, &detached_bytes);
  CHECK(detached == buffer, "detach gave %p, attached %p", detached, buffer);
  CHECK(detached_bytes == buffer_bytes, "detach gave %d bytes, attached %d", detached_bytes, buffer_bytes);
  memset(buffer, 0xdd, (size_t)buffer_bytes);
  free(buffer);
  free(body);
}

static void empty_it(int partner) {
  unsigned char* body = memory_of(kBytes);
  wait_for(partner, kGoTag);
  for (unsigned i = 0; i < kSlots; ++i) {
    MPI_Status status;
    MPI_Recv(body, kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &status);
    check_status("buffered", &status, partner, kTag, kBytes);
    CHECK(pattern_mismatch(body, kBytes, i) == kBytes, "buffered message %u: wrong body", i);
  }
  free(body);
}

// Messages of many times the buffer's size pass through it: the receive of a message frees its space.
static void reuse(int rank, int partner) {
  enum { kRounds = 200, kMessage = 1000 };
  unsigned char body[kMessage];
  const int buffer_bytes = 3 * (kMessage + MPI_BSEND_OVERHEAD);
  if (rank < partner) {
    void* buffer = memory_of((size_t)buffer_bytes);
    MPI_Buffer_attach(buffer, buffer_bytes);
    for (unsigned i = 0; i < kRounds; ++i) {
      MPI_Request request;
      pattern_fill(body, kMessage, i);
      MPI_Ibsend(body, kMessage, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      wait_for(partner, kGoTag);
    }
    int bytes = 0;
    MPI_Buffer_detach(&buffer, &bytes);
    free(buffer);
    return;
  }
  for (unsigned i = 0; i < kRounds; ++i) {
    MPI_Recv(body, kMessage, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(pattern_mismatch(body, kMessage, i) == kMessage, "reused buffer, message %u: wrong body", i);
    signal_to(partner, kGoTag);
  }
}

static void without_buffer(int partner) {
  int value = 1, bytes = -1;
  MPI_Count large = -1;
  void* detached = &value;
  MPI_Buffer_detach(&detached, &bytes);
  CHECK(detached == NULL && bytes == 0, "detach without a buffer: %p, %d bytes", detached, bytes);
  detached = &value;
  MPI_Buffer_detach_c(&detached, &large);
  CHECK(detached == NULL && large == 0, "detach_c without a buffer: %p, %lld bytes", detached, (long long)large);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Bsend(&value, 1, MPI_INT, partner, kTag, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  CHECK(class_of(code) == MPI_ERR_BUFFER, "buffered send without a buffer: class %d", class_of(code));
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), partner = partner_of(rank);
  for (int direction = 0; direction < 2; ++direction) {
    if ((rank < partner) == (direction == 0))
      fill_to_the_brim(partner);
    else
      empty_it(partner);
  }
  reuse(rank, partner);
  without_buffer(partner);
  return suite_end("buffered");
}
