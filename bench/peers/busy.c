// A benchmark of ranks that wait for each other beside programs that keep every processor busy (the driver starts
// those).
//   busy [--mode NAME] [--seconds S]   without --mode: all, one after the other
// Lines: "busy_MODE RANKS VALUE us", the mean of a step: other programs use whole time slices, so a median of batches
// would be meaningless.
//   pingpong     ranks in pairs: 8 bytes there and back, by MPI_Send and MPI_Recv
//   testloop     the same, the receive ended by a loop of MPI_Test and nothing else
//   interleaved  200 multiplications and one MPI_Test of a receive whose message arrives at the end
//   barrier, bcast  MPI_Barrier; MPI_Bcast of 8 bytes
//   halo         8 bytes to and from both neighbours of a ring, by MPI_Irecv, MPI_Isend and MPI_Waitall
#include <stdlib.h>
#include <string.h>

#include "mpi_common.h"

enum { kMultiplications = 200 };

struct Busy {
  struct World world;
  unsigned long product;
};

// The other rank of a pair; -1: none.
static int partner(const struct World* world) {
  const int other = world->rank ^ 1;
  return other < world->size ? other : -1;
}

static void receive(long* value, int from, int by_test) {
  if (!by_test) {
    MPI_Recv(value, 1, MPI_LONG, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Request request;
  MPI_Irecv(value, 1, MPI_LONG, from, 0, MPI_COMM_WORLD, &request);
  for (int done = 0; !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void there_and_back(struct Busy* busy, long count, int by_test) {
  const int other = partner(&busy->world);
  if (other < 0) return;
  for (long i = 0; i < count; i++) {
    long value = i;
    if (busy->world.rank < other) {
      MPI_Send(&value, 1, MPI_LONG, other, 0, MPI_COMM_WORLD);
      receive(&value, other, by_test);
      if (value != i + 1) fail("a wrong value came back");
    } else {
      receive(&value, other, by_test);
      value++;
      MPI_Send(&value, 1, MPI_LONG, other, 0, MPI_COMM_WORLD);
    }
  }
}

static void pingpong(struct Busy* busy, long count) {
  there_and_back(busy, count, 0);
}

static void testloop(struct Busy* busy, long count) {
  there_and_back(busy, count, 1);
}

static void interleaved(struct Busy* busy, long count) {
  const struct World* world = &busy->world;
  long value = -1, mine = world->rank;
  const int before = (world->rank + world->size - 1) % world->size;
  MPI_Request request;
  int done = 0;
  MPI_Irecv(&value, 1, MPI_LONG, before, 0, MPI_COMM_WORLD, &request);
  for (long i = 0; i < count; i++) {
    for (int k = 0; k < kMultiplications; k++)
      busy->product = busy->product * 6364136223846793005UL + 1442695040888963407UL;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(&mine, 1, MPI_LONG, (world->rank + 1) % world->size, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (value != before) fail("a wrong value came around");
}

static void barrier(struct Busy* busy, long count) {
  (void)busy;
  for (long i = 0; i < count; i++) MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(struct Busy* busy, long count) {
  for (long i = 0; i < count; i++) {
    long value = busy->world.rank == 0 ? i : -1;
    MPI_Bcast(&value, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (value != i) fail("a wrong value was broadcast");
  }
}

static void halo(struct Busy* busy, long count) {
  const struct World* world = &busy->world;
  const int left = (world->rank + world->size - 1) % world->size, right = (world->rank + 1) % world->size;
  for (long i = 0; i < count; i++) {
    const long mine = i * world->size + world->rank;
    long from[2];
    MPI_Request requests[4];
    MPI_Irecv(&from[0], 1, MPI_LONG, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&from[1], 1, MPI_LONG, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&mine, 1, MPI_LONG, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&mine, 1, MPI_LONG, left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    if (from[0] != i * world->size + left || from[1] != i * world->size + right) fail("a wrong value of a neighbour");
  }
}

// The mean of a step over all batches, which double in length until they have taken `seconds` together.
static double mean_of_step(void (*steps)(struct Busy*, long), struct Busy* busy, double seconds) {
  steps(busy, 1);
  double spent = 0;
  long done = 0;
  for (long count = 1;; count *= 2) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now_s();
    steps(busy, count);
    spent += until_all_ended(start);
    done += count;
    long enough = spent >= seconds;
    MPI_Bcast(&enough, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (enough) return spent / (double)done;
  }
}

static const struct {
  const char* name;
  void (*steps)(struct Busy*, long);
} kModes[] = {{"pingpong", pingpong}, {"testloop", testloop}, {"interleaved", interleaved},
              {"barrier", barrier},   {"bcast", bcast},       {"halo", halo}};

int main(int argc, char** argv) {
  struct Options options = {.mode = "", .seconds = 0.3};
  struct Busy busy = {.product = 1};
  MPI_Init(&argc, &argv);  // pins no rank: the placement of ranks is part of the measurement
  MPI_Comm_rank(MPI_COMM_WORLD, &busy.world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &busy.world.size);
  read_options(argc, argv, &options);
  for (size_t i = 0; i < sizeof kModes / sizeof kModes[0]; i++) {
    if (options.mode[0] != '\0' && strcmp(options.mode, kModes[i].name) != 0) continue;
    const double step = mean_of_step(kModes[i].steps, &busy, options.seconds);
    char name[64] = "busy_";
    strcat(name, kModes[i].name);
    if (busy.world.rank == 0) report(name, busy.world.size, step * 1e6, "us");
  }
  MPI_Finalize();
  return 0;
}
