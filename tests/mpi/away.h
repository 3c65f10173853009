// Ranks that make no progress in MPI: they sleep, compute, or make local calls only. A counter in shared memory lets
// them continue without a message.
#pragma once

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "check.h"

enum { kPathTag = 6 };

// The number of steps that the other ranks have completed. From it the rank without progress detects that they did not
// wait for it. This needs no measurement of time, so it also works on a slow machine.
struct shared {
  atomic_int done;
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static struct shared* map_shared(void) {
  char path[] = "/tmp/margay-away.XXXXXX";
  const int rank = world_rank(), size = world_size();
  int file = -1;
  if (rank == 0) {
    file = mkstemp(path);
    if (file >= 0 && ftruncate(file, sizeof(struct shared)) != 0) file = -1;
    for (int to = 1; to < size; ++to) MPI_Send(path, sizeof path, MPI_CHAR, to, kPathTag, MPI_COMM_WORLD);
    for (int to = 1; to < size; ++to) wait_for(to, kPathTag);
    unlink(path);
  } else {
    MPI_Recv(path, sizeof path, MPI_CHAR, 0, kPathTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    file = open(path, O_RDWR);
    signal_to(0, kPathTag);
  }
  void* memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    perror(path);
    exit(2);
  }
  close(file);
  return memory;
}

enum how { ASLEEP, COMPUTING, CALLING };
static const char* const kHowNames[] = {"slept", "computed", "made local calls"};

// Calls that need no other rank and process no message. Each takes the process lock.
static void call_locally(void) {
  const double one = 1;
  double sum = 1;
  void* tag_ub;
  int flag;
  MPI_Datatype type;
  MPI_Type_contiguous(4, MPI_INT, &type);
  MPI_Type_free(&type);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag);
  MPI_Reduce_local(&one, &sum, 1, MPI_DOUBLE, MPI_SUM);
}

// Naps, computes, or makes local calls until the others have counted to `done`. If this takes kNever, they wait for
// this rank.
static void away_until(const struct shared* shared, int done, enum how how, const char* what) {
  const double kNever = 60;
  const struct timespec nap = {0, 20000000};
  double noise = 1;
  const double until = now() + kNever;
  while (atomic_load(&shared->done) < done && now() < until) {
    if (how == ASLEEP)
      nanosleep(&nap, NULL);
    else if (how == COMPUTING)
      for (int k = 0; k < 100000; ++k) noise = noise * 1.0000001 + 1e-9;
    else
      for (int k = 0; k < 1000; ++k) call_locally();
  }
  CHECK(atomic_load(&shared->done) >= done, "%s: not done after %g s in which this rank %s", what, kNever,
        kHowNames[how]);
  CHECK(noise > 0, "no noise");
}
