// Application bypass: a message is matched, moved and answered while the other side computes without calling MPI.
// ranks: 2
// reference: none, MPICH makes progress only inside its calls
// serial: yes
#include <time.h>

#include "check.h"

enum { kTag = 4, kGoTag = 5, kBytes = 1 << 20, kTries = 3 };

enum how { ASLEEP, COMPUTING };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// No MPI in here: the whole time a loop of naps, or of arithmetic.
static double away_for(enum how how, double seconds) {
  double noise = 1;
  const double until = now() + seconds;
  const struct timespec nap = {0, 20000000};
  while (now() < until) {
    if (how == ASLEEP)
      nanosleep(&nap, NULL);
    else
      for (int k = 0; k < 100000; ++k) noise = noise * 1.0000001 + 1e-9;
  }
  return noise;
}

// None waits for the other side to come back; one of them may be late, since three threads on two processors, and
// whatever else the machine does, take turns of milliseconds.
static void check_times(const char* what, int bytes, enum how how, const double* took) {
  int late = 0;
  for (int i = 0; i < kTries; ++i) {
    late += took[i] >= 0.050;
    CHECK(took[i] < 0.200, "%s of %d bytes took %.1f ms, while the other side %s", what, bytes, took[i] * 1e3,
          how == ASLEEP ? "slept" : "computed");
  }
  CHECK(late <= 1, "%s of %d bytes took more than 50 ms %d times of %d, while the other side %s", what, bytes, late,
        kTries, how == ASLEEP ? "slept" : "computed");
}

// Synchronous sends to receives that are posted, whose owner is away.
static void to_an_absent_receiver(int rank, int bytes, unsigned char* body, enum how how, double seconds) {
  if (rank == 1) {
    MPI_Request requests[kTries];
    MPI_Status statuses[kTries];
    memset(body, 0, kTries * (size_t)bytes);
    for (int i = 0; i < kTries; ++i)
      MPI_Irecv(body + i * bytes, bytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &requests[i]);
    signal_to(0, kGoTag);
    CHECK(away_for(how, seconds) > 0, "no noise");
    int flag = 0;
    MPI_Testall(kTries, requests, &flag, statuses);
    CHECK(flag, "the messages of %d bytes are not there after %g s", bytes, seconds);
    if (!flag) MPI_Waitall(kTries, requests, statuses);
    for (int i = 0; i < kTries; ++i) {
      check_status("bypass", &statuses[i], 0, kTag, bytes);
      CHECK(pattern_mismatch(body + i * bytes, (size_t)bytes, 6) == (size_t)bytes, "wrong body");
    }
    return;
  }
  double took[kTries];
  pattern_fill(body, (size_t)bytes, 6);
  wait_for(1, kGoTag);
  for (int i = 0; i < kTries; ++i) {
    usleep(20000);
    const double began = MPI_Wtime();
    MPI_Ssend(body, bytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD);
    took[i] = MPI_Wtime() - began;
  }
  check_times("MPI_Ssend", bytes, how, took);
}

// Long messages that came unexpected are pulled out of the memory of a sender that is away.
static void from_an_absent_sender(int rank, unsigned char* body, enum how how, double seconds) {
  if (rank == 0) {
    MPI_Request requests[kTries];
    pattern_fill(body, kBytes, 8);
    for (int i = 0; i < kTries; ++i) MPI_Isend(body, kBytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &requests[i]);
    signal_to(1, kGoTag);
    CHECK(away_for(how, seconds) > 0, "no noise");
    MPI_Waitall(kTries, requests, MPI_STATUSES_IGNORE);
    return;
  }
  double took[kTries];
  wait_for(0, kGoTag);
  for (int i = 0; i < kTries; ++i) {
    memset(body, 0, kBytes);
    usleep(20000);
    const double began = MPI_Wtime();
    MPI_Recv(body, kBytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    took[i] = MPI_Wtime() - began;
    CHECK(pattern_mismatch(body, kBytes, 8) == kBytes, "pulled: wrong body");
  }
  check_times("pulling", kBytes, how, took);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank();
  unsigned char* body = memory_of(kTries * (size_t)kBytes);
  for (enum how how = ASLEEP; how <= COMPUTING; ++how) {
    to_an_absent_receiver(rank, kBytes, body, how, how == ASLEEP ? 2.0 : 1.0);
    to_an_absent_receiver(rank, 100, body, how, 0.3);
    to_an_absent_receiver(rank, 20000, body, how, 0.3);
    from_an_absent_sender(rank, body, how, 0.3);
  }
  free(body);
  return suite_end("bypass");
}
