// A flood of unexpected messages: 160 MB sent to a rank that does not receive yet. All arrive, in order, and on margay
// the memory stays bounded (the heap's 64 MiB and what the wires hold), because full room holds the senders back.
// ranks: 2 3
// reference: 2
// timeout: 90
#include <sys/resource.h>

#include "check.h"

enum { kMessages = 40000, kBytes = 4000, kTag = 2, kLong = 100, kLongBytes = 400000, kBoundMegabytes = 160 };

static long resident_megabytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

static void as_sender(int senders) {
  unsigned char body[kBytes];
  unsigned char* large = memory_of(kLongBytes);
  MPI_Request requests[kLong];
  for (int i = 0; i < kMessages / senders; ++i) {
    pattern_fill(body, kBytes, (unsigned)i);
    MPI_Send(body, kBytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD);
  }
  // 40 MB of long messages stay here until they are asked for.
  pattern_fill(large, kLongBytes, 5);
  for (int i = 0; i < kLong; ++i) MPI_Isend(large, kLongBytes, MPI_BYTE, 0, kTag + 1, MPI_COMM_WORLD, &requests[i]);
  MPI_Waitall(kLong, requests, MPI_STATUSES_IGNORE);
  free(large);
}

static void as_receiver(int senders) {
  unsigned char* body = memory_of(kLongBytes);
  int next[16] = {0};
  MPI_Status status;
  usleep(300000);  // the flood comes in meanwhile, until the room is full
  // The last come first: a receive that has to look past everything that lies there.
  for (int i = 0; i < senders; ++i) {
    while (next[i] < kMessages / senders) {
      MPI_Recv(body, kBytes, MPI_BYTE, i + 1, kTag, MPI_COMM_WORLD, &status);
      const unsigned seed = (unsigned)next[i]++;
      CHECK(pattern_mismatch(body, kBytes, seed) == kBytes, "from %d: message %u is wrong", i + 1, seed);
    }
  }
  for (int i = 0; i < kLong * senders; ++i) {
    MPI_Recv(body, kLongBytes, MPI_BYTE, MPI_ANY_SOURCE, kTag + 1, MPI_COMM_WORLD, &status);
    CHECK(pattern_mismatch(body, kLongBytes, 5) == kLongBytes, "long message %d is wrong", i);
  }
  free(body);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), senders = world_size() - 1;
  if (rank == 0)
    as_receiver(senders);
  else
    as_sender(senders);
  const long megabytes = resident_megabytes();
  if (on_margay()) fprintf(stderr, "rank %d: %ld MB resident\n", rank, megabytes);
  if (on_margay()) CHECK(megabytes < kBoundMegabytes, "%ld MB resident, the bound is %d", megabytes, kBoundMegabytes);
  return suite_end("flood");
}
