// A test of two ranks on the same single processor: calls that wait, and loops of calls that poll, yield it to the
// other rank.
// ranks: 2
// reference: none (MPICH's ranks do not yield their processor)
// sanitized: none (the time of the processor is measured)
#define _GNU_SOURCE
#include <sched.h>
#include <sys/resource.h>

#include "check.h"

enum { kRounds = 200, kTag = 3 };
enum { kReceive, kTest, kTestall, kIprobe, kWays };

static const char* const kNames[kWays] = {"MPI_Recv", "MPI_Test", "MPI_Testall", "MPI_Iprobe"};
// Processor time of all rounds. Each takes some microseconds, but more than a millisecond if a rank spins.
static const double kSecondsMax = 0.1;

static void pin_to_the_first(void) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "no affinity");
  for (int processor = 0; processor < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++processor) {
    if (CPU_ISSET(processor, &allowed)) CPU_SET(processor, &one);
  }
  CHECK(sched_setaffinity(0, sizeof one, &one) == 0, "the affinity cannot be set");
}

static double processor_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static int receive(int way, int peer) {
  int value = -1, done = 0;
  MPI_Request request;
  if (way == kIprobe) {
    while (!done) MPI_Iprobe(peer, kTag, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
  }
  if (way == kReceive || way == kIprobe) {
    MPI_Recv(&value, 1, MPI_INT, peer, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
  }
  MPI_Irecv(&value, 1, MPI_INT, peer, kTag, MPI_COMM_WORLD, &request);
  while (!done) {
    if (way == kTest) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (way == kTestall) MPI_Testall(1, &request, &done, MPI_STATUSES_IGNORE);
  }
  return value;
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), peer = 1 - rank;
  pin_to_the_first();
  for (int way = 0; way < kWays; ++way) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = processor_seconds();
    for (int i = 0; i < kRounds; ++i) {
      int value = i;
      if (rank == 0) MPI_Send(&value, 1, MPI_INT, peer, kTag, MPI_COMM_WORLD);
      value = receive(way, peer);
      CHECK(value == i, "round %d brought %d", i, value);
      if (rank == 1) MPI_Send(&value, 1, MPI_INT, peer, kTag, MPI_COMM_WORLD);
    }
    const double spent = processor_seconds() - before;
    CHECK(spent < kSecondsMax, "%d rounds by %s took %.3f s of the processor", kRounds, kNames[way], spent);
  }
  return suite_end("shared_processor");
}
