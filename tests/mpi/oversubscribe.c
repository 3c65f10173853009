// A test with more ranks than processors: 16 ranks on two processors call MPI_Barrier. In a timed run a barrier takes
// well under a millisecond.
// ranks: 16
// reference: none, MPICH spins and needs 100 ms a barrier here
// wires: shm
#include "check.h"

enum { kRounds = 500 };

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  for (int i = 0; i < 20; ++i) MPI_Barrier(MPI_COMM_WORLD);
  // The best of three, because another program's time slice must not decide.
  double best = 1;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const double began = MPI_Wtime();
    for (int i = 0; i < kRounds; ++i) MPI_Barrier(MPI_COMM_WORLD);
    const double each = (MPI_Wtime() - began) / kRounds;
    if (each < best) best = each;
  }
  CHECK(!timed() || best < 0.8e-3, "a barrier of %d ranks takes %.0f us", size, best * 1e6);
  if (rank == 0) fprintf(stderr, "a barrier of %d ranks takes %.0f us\n", size, best * 1e6);
  // A ping-pong between two ranks, while the other ranks wait inside MPI.
  const double began = MPI_Wtime();
  for (int i = 0; i < 100; ++i) {
    if (rank == 0) {
      signal_to(size - 1, 1);
      wait_for(size - 1, 1);
    } else if (rank == size - 1) {
      wait_for(0, 1);
      signal_to(0, 1);
    }
  }
  const double round_trip = (MPI_Wtime() - began) / 100;
  CHECK(!timed() || rank != 0 || round_trip < 2e-3, "a round trip among %d ranks takes %.0f us", size,
        round_trip * 1e6);
  MPI_Barrier(MPI_COMM_WORLD);
  return suite_end("oversubscribe");
}
