// Application bypass: a message is matched, moved and answered while the other side computes without calling MPI.
// ranks: 2
// reference: none, MPICH makes progress only inside its calls
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "check.h"

enum { kTag = 4, kGoTag = 5, kPathTag = 6, kBytes = 1 << 20, kTries = 3, kRounds = 5 };

enum how { ASLEEP, COMPUTING };
static const char* const kHowNames[] = {"slept", "computed"};

// What the ranks tell each other without MPI, in memory that both have mapped: how many rounds the one that works has
// done. The other stays away until then, so a message that waits for its return is seen on the slowest machine.
struct shared {
  atomic_int rounds_done;
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static struct shared* map_shared(int rank) {
  char path[] = "/tmp/margay-bypass.XXXXXX";
  int file = -1;
  if (rank == 0) {
    file = mkstemp(path);
    if (file >= 0 && ftruncate(file, sizeof(struct shared)) != 0) file = -1;
    MPI_Send(path, sizeof path, MPI_CHAR, 1, kPathTag, MPI_COMM_WORLD);
    wait_for(1, kPathTag);
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

// No MPI in here: a loop of naps, or of arithmetic, until the other rank has done `round`. Far longer than it may take
// means that it waits for this one.
static void away_until(const struct shared* shared, int round, enum how how, const char* what) {
  const double kNever = 60;
  const struct timespec nap = {0, 20000000};
  double noise = 1;
  const double until = now() + kNever;
  while (atomic_load(&shared->rounds_done) < round && now() < until) {
    if (how == ASLEEP)
      nanosleep(&nap, NULL);
    else
      for (int k = 0; k < 100000; ++k) noise = noise * 1.0000001 + 1e-9;
  }
  CHECK(atomic_load(&shared->rounds_done) >= round, "%s: not done after %g s in which the other side %s", what, kNever,
        kHowNames[how]);
  CHECK(noise > 0, "no noise");
}

// How many of these took long. One of a round may: three threads on two processors, and whatever else the machine does,
// take turns of milliseconds.
static int late_of(const double* took) {
  int late = 0;
  for (int i = 0; i < kTries; ++i) late += took[i] >= 0.050;
  return late;
}

// In a timed run. A machine that is busy with other things has quiet moments: a round of kRounds must be in time.
static void check_rounds(const char* what, int bytes, enum how how, const double* took, int late) {
  CHECK(late <= 1,
        "%s of %d bytes took more than 50 ms more than once in each of %d rounds, while the other side %s; "
        "of the last %.1f, %.1f and %.1f ms",
        what, bytes, kRounds, kHowNames[how], took[0] * 1e3, took[1] * 1e3, took[2] * 1e3);
}

// A program that waits in one call, or looks again and again.
static void wait_or_look(MPI_Request* request, int look) {
  int flag = 0;
  if (!look) MPI_Wait(request, MPI_STATUS_IGNORE);
  while (look && !flag) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
}

// Synchronous sends to receives that are posted, whose owner is away.
static int receive_absent(const struct shared* shared, int round, int bytes, unsigned char* body, enum how how) {
  MPI_Request requests[kTries];
  MPI_Status statuses[kTries];
  memset(body, 0, kTries * (size_t)bytes);
  for (int i = 0; i < kTries; ++i) MPI_Irecv(body + i * bytes, bytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &requests[i]);
  signal_to(0, kGoTag);
  away_until(shared, round, how, "MPI_Ssend");
  int flag = 0;
  MPI_Testall(kTries, requests, &flag, statuses);
  CHECK(flag, "the messages of %d bytes are not there, though their senders know them received", bytes);
  if (!flag) MPI_Waitall(kTries, requests, statuses);
  for (int i = 0; i < kTries; ++i) {
    check_status("bypass", &statuses[i], 0, kTag, bytes);
    CHECK(pattern_mismatch(body + i * bytes, (size_t)bytes, 6) == (size_t)bytes, "wrong body");
  }
  int again = 0;
  MPI_Recv(&again, 1, MPI_INT, 0, kGoTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return again;
}

static int send_to_absent(struct shared* shared, int round, int bytes, unsigned char* body, double* took) {
  pattern_fill(body, (size_t)bytes, 6);
  wait_for(1, kGoTag);
  for (int i = 0; i < kTries; ++i) {
    usleep(20000);
    const double began = now();
    MPI_Request request;
    MPI_Issend(body, bytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &request);
    wait_or_look(&request, i % 2 == 0);
    took[i] = now() - began;
  }
  usleep(20000);
  atomic_store(&shared->rounds_done, round);
  return late_of(took);
}

// Long messages that came unexpected are pulled out of the memory of a sender that is away.
static int offer_and_leave(const struct shared* shared, int round, unsigned char* body, enum how how) {
  MPI_Request requests[kTries];
  pattern_fill(body, kBytes, 8);
  for (int i = 0; i < kTries; ++i) MPI_Isend(body, kBytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &requests[i]);
  signal_to(1, kGoTag);
  away_until(shared, round, how, "pulling");
  MPI_Waitall(kTries, requests, MPI_STATUSES_IGNORE);
  int again = 0;
  MPI_Recv(&again, 1, MPI_INT, 1, kGoTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return again;
}

static int pull_from_absent(struct shared* shared, int round, unsigned char* body, double* took) {
  wait_for(0, kGoTag);
  for (int i = 0; i < kTries; ++i) {
    memset(body, 0, kBytes);
    usleep(20000);
    const double began = now();
    MPI_Request request;
    MPI_Irecv(body, kBytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &request);
    wait_or_look(&request, i % 2 == 0);
    took[i] = now() - began;
    CHECK(pattern_mismatch(body, kBytes, 8) == kBytes, "pulled: wrong body");
  }
  atomic_store(&shared->rounds_done, round);
  return late_of(took);
}

// Rounds until one is in time; `worker` measures, the other is away. `pull`: rank 1 works, else rank 0.
static void rounds(struct shared* shared, int* round, int pull, int bytes, unsigned char* body, enum how how) {
  const int rank = world_rank(), worker = pull ? 1 : 0;
  double took[kTries];
  int again = 1, late = 0;
  for (int i = 1; again; ++i) {
    ++*round;
    if (rank != worker) {
      again = pull ? offer_and_leave(shared, *round, body, how) : receive_absent(shared, *round, bytes, body, how);
      continue;
    }
    late = pull ? pull_from_absent(shared, *round, body, took) : send_to_absent(shared, *round, bytes, body, took);
    again = timed() && late > 1 && i < kRounds;
    MPI_Send(&again, 1, MPI_INT, 1 - worker, kGoTag, MPI_COMM_WORLD);
  }
  if (rank == worker && timed()) check_rounds(pull ? "pulling" : "MPI_Ssend", bytes, how, took, late);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  unsigned char* body = memory_of(kTries * (size_t)kBytes);
  struct shared* shared = map_shared(world_rank());
  int round = 0;
  for (enum how how = ASLEEP; how <= COMPUTING; ++how) {
    rounds(shared, &round, 0, kBytes, body, how);
    rounds(shared, &round, 0, 100, body, how);
    rounds(shared, &round, 0, 20000, body, how);
    rounds(shared, &round, 1, kBytes, body, how);
  }
  free(body);
  return suite_end("bypass");
}
