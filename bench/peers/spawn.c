// A benchmark of MPI_Comm_spawn, of the children whose numbers are given.
//   spawn [--sizes CHILDREN,...] [--seconds S]
// Lines: "spawn_RANKS CHILDREN VALUE ms" (until all parents have the intercommunicator), "spawn_cycle_RANKS CHILDREN
// VALUE ms" (until the children's processes have ended, too, after a barrier with them and MPI_Comm_disconnect).
// Medians of cycles one after the other. No rank is pinned, because parents and children together are more than the
// processors.
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpi_common.h"

enum { kChildrenMax = 64, kCyclesMin = 5, kCyclesMax = 1000 };

struct Times {
  double spawn[kCyclesMax];
  double cycle[kCyclesMax];
};

// The end of a process is seen through a descriptor, because the children belong to the launcher.
static int watch_process(long pid) {
  const int descriptor = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
  if (descriptor < 0) fail("pidfd_open");
  return descriptor;
}

static void wait_for_end(int descriptor) {
  struct pollfd ended = {.fd = descriptor, .events = POLLIN};
  if (poll(&ended, 1, -1) != 1) fail("poll");
  close(descriptor);
}

static void live_as_child(MPI_Comm parents) {
  const long pid = getpid();
  MPI_Gather(&pid, 1, MPI_LONG, NULL, 0, MPI_LONG, 0, parents);
  MPI_Barrier(parents);
  MPI_Comm_disconnect(&parents);
}

// The seconds of one cycle, and in `spawn` those of its first part, on all ranks.
static double cycle(struct World world, char* program, int children, double* spawn) {
  MPI_Comm others;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now_s();
  MPI_Comm_spawn(program, MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
  const double exists = now_s();

  int size = 0;
  long pids[kChildrenMax];
  MPI_Comm_remote_size(others, &size);
  if (size != children) fail("a spawn with a wrong number of children");
  MPI_Gather(NULL, 0, MPI_LONG, pids, 1, MPI_LONG, world.rank == 0 ? MPI_ROOT : MPI_PROC_NULL, others);
  int watched[kChildrenMax];
  for (int i = 0; world.rank == 0 && i < children; i++) watched[i] = watch_process(pids[i]);
  MPI_Barrier(others);
  MPI_Comm_disconnect(&others);
  for (int i = 0; world.rank == 0 && i < children; i++) wait_for_end(watched[i]);
  const double ended = now_s();

  // The last rank determines both times; the maximum of a negative start is the first start.
  const double mine[3] = {exists, ended, -start};
  double last[3];
  MPI_Allreduce(mine, last, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  *spawn = last[0] + last[2];
  return last[1] + last[2];
}

int main(int argc, char** argv) {
  static struct Times times;
  struct World world;
  MPI_Comm parents;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parents);
  if (parents != MPI_COMM_NULL) {
    live_as_child(parents);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  struct Options options = {.sizes = {1}, .size_count = 1, .seconds = 0.5};
  read_options(argc, argv, &options);
  for (int s = 0; s < options.size_count; s++) {
    const int children = (int)options.sizes[s];
    if (children < 1 || children > kChildrenMax) fail("--sizes: 1 to 64 children");
    int cycles = 0;
    cycle(world, argv[0], children, &times.spawn[0]);  // not counted: the first uses memory and files
    const double start = now_s();
    do {
      times.cycle[cycles] = cycle(world, argv[0], children, &times.spawn[cycles]);
      cycles++;
    } while (agree_on(cycles < kCyclesMin || (cycles < kCyclesMax && now_s() - start < options.seconds)));
    if (world.rank != 0) continue;
    char name[64];
    snprintf(name, sizeof name, "spawn_%d", world.size);
    report(name, children, 1e3 * median_of(times.spawn, cycles), "ms");
    snprintf(name, sizeof name, "spawn_cycle_%d", world.size);
    report(name, children, 1e3 * median_of(times.cycle, cycles), "ms");
  }
  MPI_Finalize();
  return 0;
}
