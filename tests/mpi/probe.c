// Tests of Probe and Iprobe: their status and wildcards; they do not take the message, and a later receive gets the
// same one.
// ranks: 2 3
// reference: 2
#include "check.h"

enum { kGoTag = 40, kLargest = 100000 };

static const int kSizes[] = {0, 4, 40, 41, 16384, 16385, kLargest};
enum { kSizeCount = sizeof kSizes / sizeof kSizes[0] };

static void probe_one(int source, int tag, int bytes, int blocking, int any, unsigned seed) {
  const int from = any ? MPI_ANY_SOURCE : source, with = any ? MPI_ANY_TAG : tag;
  unsigned char* body = memory_of((size_t)bytes);
  MPI_Status status;
  int flag = 0;
  if (blocking)
    MPI_Probe(from, with, MPI_COMM_WORLD, &status);
  else
    while (!flag) MPI_Iprobe(from, with, MPI_COMM_WORLD, &flag, &status);
  check_status("probe", &status, source, tag, bytes);
  // A second probe finds the same message.
  flag = 0;
  MPI_Iprobe(from, with, MPI_COMM_WORLD, &flag, &status);
  CHECK(flag, "the second Iprobe does not see the message");
  check_status("second probe", &status, source, tag, bytes);
  MPI_Iprobe(source, tag + 1, MPI_COMM_WORLD, &flag, &status);
  CHECK(!flag, "Iprobe sees a message of another tag");
  MPI_Recv(body, bytes, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status);
  check_status("receive after probe", &status, source, tag, bytes);
  CHECK(pattern_mismatch(body, (size_t)bytes, seed) == (size_t)bytes, "%d bytes after a probe: wrong body", bytes);
  MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK(!flag, "Iprobe sees a message that was received");
  free(body);
}

static void as_sender(void) {
  unsigned char* body = memory_of(kLargest);
  unsigned seed = 0;
  for (int i = 0; i < kSizeCount; ++i)
    for (int way = 0; way < 4; ++way, ++seed) {
      pattern_fill(body, (size_t)kSizes[i], seed);
      wait_for(0, kGoTag);
      if (way % 2)
        MPI_Ssend(body, kSizes[i], MPI_BYTE, 0, 2 * i, MPI_COMM_WORLD);
      else
        MPI_Send(body, kSizes[i], MPI_BYTE, 0, 2 * i, MPI_COMM_WORLD);
    }
  free(body);
}

// The second message of a sender is probed and received while the first is still queued.
static void out_of_order(int rank) {
  int values[2] = {0, 0};
  MPI_Status status;
  if (rank == 1) {
    wait_for(0, kGoTag);
    for (int i = 0; i < 2; ++i) {
      const int value = 70 + i;
      MPI_Send(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    }
  } else if (rank == 0) {
    signal_to(1, kGoTag);
    MPI_Probe(1, 1, MPI_COMM_WORLD, &status);
    check_status("second message", &status, 1, 1, (int)sizeof(int));
    MPI_Probe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    check_status("first message", &status, 1, 0, (int)sizeof(int));
    MPI_Recv(&values[1], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &status);
    MPI_Recv(&values[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &status);
    CHECK(values[0] == 70 && values[1] == 71, "received %d and %d", values[0], values[1]);
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  if (rank == 0) {
    int flag = 1;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "Iprobe sees a message before any was sent");
    for (int source = 1; source < size; ++source) {
      unsigned seed = 0;
      for (int i = 0; i < kSizeCount; ++i)
        for (int way = 0; way < 4; ++way, ++seed) {
          signal_to(source, kGoTag);
          probe_one(source, 2 * i, kSizes[i], way < 2, way % 2, seed);
        }
    }
  } else {
    as_sender();
  }
  out_of_order(rank);
  return suite_end("probe");
}
