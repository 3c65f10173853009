// Figure 4 of the Nexus paper: a ping-pong between two processes, by MPI or by Nexus.
//
//     figure4 mpi|nexus ROUND_TRIPS BYTES...
//
// Prints a line for each length: `bytes N us ONE_WAY polls N`; the polls are those of the slow network by both contexts
// during the ping-pong.
#include <cstdlib>
#include <string>

#include "contexts.hpp"

using namespace margay::nexus;

namespace {

void play_mpi(int rank, int rounds, std::vector<char>& ball) {
  const int bytes = static_cast<int>(ball.size());
  for (int i = 0; i < rounds; ++i) {
    if (rank == 0) MPI_Send(ball.data(), bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(ball.data(), bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(ball.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

void play_nexus(int rank, int rounds, Startpoint& other, const int& balls, std::size_t bytes) {
  const Buffer ball = body_of(bytes);
  const int before = balls;
  for (int i = 1; i <= rounds; ++i) {
    if (rank == 0) send(other, "ball", ball).check();
    wait_until([&] { return balls - before >= i; });
    if (rank == 1) send(other, "ball", ball).check();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Libraries libraries(argc, argv);
  if (argc < 4 || contexts() != 2) {
    std::fprintf(stderr, "use: margay run -n 2 figure4 mpi|nexus ROUND_TRIPS BYTES...\n");
    return 1;
  }
  const bool by_mpi = std::string(argv[1]) == "mpi";
  const int rounds = std::atoi(argv[2]);
  register_handler("ball", [](Endpoint& endpoint, Buffer&) { ++endpoint.local<int>(); });
  int balls = 0;
  const Endpoint endpoint(&balls);
  std::vector<Startpoint> all = exchange(Startpoint(endpoint));
  const int rank = context();
  for (int at = 3; at < argc; ++at) {
    const std::size_t bytes = std::strtoull(argv[at], nullptr, 10);
    std::vector<char> ball(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    const unsigned long long polls_before = slow_polls().polls;
    const double begin = MPI_Wtime();
    if (by_mpi) {
      play_mpi(rank, rounds, ball);
    } else {
      play_nexus(rank, rounds, all[static_cast<std::size_t>(1 - rank)], balls, bytes);
    }
    const double us = (MPI_Wtime() - begin) * 1e6 / (2.0 * rounds);
    unsigned long long polls = slow_polls().polls - polls_before;
    MPI_Allreduce(MPI_IN_PLACE, &polls, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) std::printf("bytes %zu us %.3f polls %llu\n", bytes, us, polls);
  }
  return 0;
}
