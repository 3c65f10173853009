// A test of a root that starts 10,000 broadcasts before another rank starts one: they cost the others almost no memory,
// and messages between the same ranks proceed. Then all ranks join, and each broadcast delivers its data.
// ranks: 2 3
// reference: 2
#include <sys/resource.h>

#include "check.h"

enum { kCalls = 10000, kBytes = 1000, kLongCalls = 200, kLongBytes = 50000, kTag = 3, kBackTag = 4 };
enum { kBoundKilobytes = 3 << 10 };  // of 10 MB

static long most_resident_kilobytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void ahead(MPI_Comm comm, int calls, int bytes, unsigned char* data, MPI_Request* requests) {
  const int rank = world_rank();
  const size_t each = (size_t)bytes;
  int sum = 0;
  for (int i = 0; i < calls; ++i)
    if (rank == 0)
      pattern_fill(data + (size_t)i * each, each, (unsigned)i);
    else
      memset(data + (size_t)i * each, 0, each);
  MPI_Barrier(MPI_COMM_WORLD);
  const long before = most_resident_kilobytes();
  for (int i = 0; i < calls && rank == 0; ++i)
    MPI_Ibcast(data + (size_t)i * each, bytes, MPI_BYTE, 0, comm, &requests[i]);
  // Sent after all messages of the broadcasts, there and back.
  for (int other = 1; other < world_size(); ++other) {
    if (rank == 0) {
      MPI_Send(&calls, 1, MPI_INT, other, kTag, MPI_COMM_WORLD);
      MPI_Recv(&sum, 1, MPI_INT, other, kBackTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(sum == calls + other, "from %d came back %d", other, sum);
    } else if (rank == other) {
      MPI_Recv(&sum, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const long took = most_resident_kilobytes() - before;
      if (on_margay()) CHECK(took < kBoundKilobytes, "%d broadcasts of %d bytes took %ld KiB", calls, bytes, took);
      sum += rank;
      MPI_Send(&sum, 1, MPI_INT, 0, kBackTag, MPI_COMM_WORLD);
    }
  }
  for (int i = 0; i < calls && rank != 0; ++i)
    MPI_Ibcast(data + (size_t)i * each, bytes, MPI_BYTE, 0, comm, &requests[i]);
  MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < calls; ++i) {
    if (pattern_mismatch(data + (size_t)i * each, each, (unsigned)i) == each) continue;
    CHECK(0, "broadcast %d of %d bytes is wrong", i, bytes);
    return;
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  unsigned char* data = memory_of((size_t)kCalls * kBytes);
  MPI_Request* requests = memory_of(kCalls * sizeof *requests);
  ahead(comm, kCalls, kBytes, data, requests);
  ahead(comm, kLongCalls, kLongBytes, data, requests);
  free(requests);
  free(data);
  MPI_Comm_free(&comm);
  return suite_end("ibcasts_ahead");
}
