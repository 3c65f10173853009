// Application bypass: a message is matched, moved and answered while the other side computes without calling MPI.
// ranks: 2
// reference: none, MPICH makes progress only inside its calls
// serial: yes
#include <time.h>

#include "check.h"

enum { kTag = 4, kGoTag = 5, kBytes = 1 << 20 };

// Rank 1's side: no MPI in here. Half of it sleeps, half of it computes.
static double away_for(double seconds) {
  double noise = 1;
  const double until = MPI_Wtime() + seconds;
  struct timespec nap = {0, 2000000};
  for (int i = 0; MPI_Wtime() < until; ++i) {
    if (i % 2)
      nanosleep(&nap, NULL);
    else
      for (int k = 0; k < 100000; ++k) noise = noise * 1.0000001 + 1e-9;
  }
  return noise;
}

// A synchronous send to a receive that is posted, whose owner is away.
static void to_an_absent_receiver(int rank, int bytes, unsigned char* body, double seconds) {
  if (rank == 1) {
    MPI_Request request;
    MPI_Status status;
    memset(body, 0, (size_t)bytes);
    MPI_Irecv(body, bytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &request);
    signal_to(0, kGoTag);
    CHECK(away_for(seconds) > 0, "no noise");
    int flag = 0;
    MPI_Test(&request, &flag, &status);
    CHECK(flag, "the message of %d bytes is not there after %g s", bytes, seconds);
    if (!flag) MPI_Wait(&request, &status);
    check_status("bypass", &status, 0, kTag, bytes);
    CHECK(pattern_mismatch(body, (size_t)bytes, 6) == (size_t)bytes, "wrong body");
    return;
  }
  pattern_fill(body, (size_t)bytes, 6);
  wait_for(1, kGoTag);
  usleep(20000);
  const double began = MPI_Wtime();
  MPI_Ssend(body, bytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD);
  const double took = MPI_Wtime() - began;
  CHECK(took < 0.050, "Ssend of %d bytes to a computing target took %.1f ms", bytes, took * 1e3);
}

// A long message that came unexpected is pulled out of the memory of a sender that is away.
static void from_an_absent_sender(int rank, unsigned char* body, double seconds) {
  if (rank == 0) {
    MPI_Request request;
    pattern_fill(body, kBytes, 8);
    MPI_Isend(body, kBytes, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &request);
    signal_to(1, kGoTag);
    CHECK(away_for(seconds) > 0, "no noise");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  memset(body, 0, kBytes);
  wait_for(0, kGoTag);
  usleep(20000);
  const double began = MPI_Wtime();
  MPI_Recv(body, kBytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double took = MPI_Wtime() - began;
  CHECK(took < 0.050, "pulling 1 MiB from a computing sender took %.1f ms", took * 1e3);
  CHECK(pattern_mismatch(body, kBytes, 8) == kBytes, "pulled: wrong body");
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank();
  unsigned char* body = memory_of(kBytes);
  to_an_absent_receiver(rank, kBytes, body, 2.0);
  to_an_absent_receiver(rank, 100, body, 0.3);
  to_an_absent_receiver(rank, 20000, body, 0.3);
  from_an_absent_sender(rank, body, 0.5);
  free(body);
  return suite_end("bypass");
}
