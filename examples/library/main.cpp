// Every rank adds to the counter of every rank. Beside MPI, if the program is started with the argument "mpi".
//
//   margay run -n 4 --stats ./counter
//   margay run -n 2 --deadlock abort ./counter deadlock
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "counter.hpp"

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  constexpr int kAdditions = 1000;
  if (mode != "") MPI_Init(&argc, &argv);
  counter::open();
  if (mode == "deadlock") {
    // Rank 0 waits in MPI, and answers only in calls of the library: rank 1 waits forever.
    if (counter::rank() == 1) counter::add(0, 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; i < kAdditions; ++i) {
    for (int rank = 0; rank < counter::size(); ++rank) counter::add(rank, 1);
  }
  if (mode == "mpi") {
    // While ranks may still ask this one, it must answer: MPI_Test in a loop, and not MPI_Barrier.
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int done = 0; done == 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) counter::serve();
    const std::int64_t sum = counter::add(counter::rank(), 0);
    std::printf("rank %d: the counter has %lld\n", counter::rank(), static_cast<long long>(sum));
  }
  counter::close();
  if (mode != "") MPI_Finalize();
  return 0;
}
