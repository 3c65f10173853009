// Tests of messages of a rank to itself, on MPI_COMM_SELF and on MPI_COMM_WORLD.
// ranks: 1 2
// reference: 1
#include "check.h"

enum { kTag = 6 };

static const int kSizes[] = {0, 1, 40, 41, 16384, 16385, 1 << 20};
enum { kSizeCount = sizeof kSizes / sizeof kSizes[0] };

static void to_itself(MPI_Comm comm, int self, int bytes, int posted_before, int synchronous) {
  unsigned char* out = memory_of((size_t)bytes);
  unsigned char* in = memory_of((size_t)bytes);
  MPI_Request requests[2];
  MPI_Status status;
  pattern_fill(out, (size_t)bytes, 77);
  memset(in, 0, (size_t)bytes);
  if (posted_before) MPI_Irecv(in, bytes, MPI_BYTE, self, kTag, comm, &requests[0]);
  if (synchronous)
    MPI_Issend(out, bytes, MPI_BYTE, self, kTag, comm, &requests[1]);
  else
    MPI_Isend(out, bytes, MPI_BYTE, self, kTag, comm, &requests[1]);
  if (!posted_before) {
    MPI_Probe(MPI_ANY_SOURCE, kTag, comm, &status);
    check_status("Probe of an own message", &status, self, kTag, bytes);
    MPI_Irecv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, kTag, comm, &requests[0]);
  }
  MPI_Wait(&requests[0], &status);
  check_status("own message", &status, self, kTag, bytes);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  CHECK(pattern_mismatch(in, (size_t)bytes, 77) == (size_t)bytes, "own message of %d bytes: wrong body", bytes);
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  int size = 0, rank = -1;
  MPI_Comm_size(MPI_COMM_SELF, &size);
  MPI_Comm_rank(MPI_COMM_SELF, &rank);
  CHECK(size == 1 && rank == 0, "COMM_SELF: rank %d of %d", rank, size);
  for (int i = 0; i < kSizeCount; ++i)
    for (int way = 0; way < 4; ++way) {
      to_itself(MPI_COMM_SELF, 0, kSizes[i], way & 1, way >> 1);
      to_itself(MPI_COMM_WORLD, world_rank(), kSizes[i], way & 1, way >> 1);
    }
  // margay buffers a small blocking send to the rank itself; the standard allows it to block, and MPICH 4.0.2 blocks
  // for ever.
  if (on_margay()) {
    int value = 9, other = 0;
    MPI_Send(&value, 1, MPI_INT, 0, kTag, MPI_COMM_SELF);
    MPI_Recv(&other, 1, MPI_INT, 0, kTag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(other == 9, "received %d", other);
  }
  return suite_end("self_messages");
}
