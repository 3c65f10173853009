// A test of thousands of MPI ranks in one process and one thread, over the virtual wire.
//
//   thousands_of_ranks idle RANKS MEGABYTES     the ranks are made and do nothing: they must take less memory than that
//   thousands_of_ranks allreduce RANKS ROUNDS   each makes so many allreduces, whose results must be right
//
// Prints the measurements. Times are printed only, not checked.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <vector>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/rank/mpi_process.hpp"
#include "sim/machine/process.hpp"
#include "sim/wire/virtual/virtual_wire.hpp"

namespace {

namespace mpi_adi = margay::mpi_adi;
namespace sim = margay::sim;

class NoYield final : public sim::YieldPolicy {
 public:
  void yield(std::uint64_t /*ns*/) override {}
};

// A rank: its process, until MPI_Init takes it, and its MPI.
class Rank final : public mpi_adi::ProcessStart {
 public:
  explicit Rank(const sim::VirtualSettings& settings)
      : process_(sim::Process::start_virtual(settings)), mpi_process_(*this, *settings.clock) {}
  [[nodiscard]] margay::portals::Status start(std::unique_ptr<sim::Process>& out) override {
    out = std::move(process_);
    return {};
  }
  // The calling thread is this rank's.
  void be() { mpi_adi::set_thread_process(mpi_process_, mpi_process_.rank()); }

 private:
  std::unique_ptr<sim::Process> process_;
  mpi_adi::VirtualMpiProcess mpi_process_;
};

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

// All ranks, between MPI_Init and MPI_Finalize.
struct World {
  explicit World(std::uint32_t size) : network(size, 1, {}) {
    sim::VirtualSettings settings;
    settings.job.size = size;
    settings.job.node_count = 1;
    sim::SharedTable::Numbers all_ranks(size);
    std::iota(all_ranks.begin(), all_ranks.end(), 0U);
    settings.job.all_ranks = std::move(all_ranks);
    settings.job.node_of_rank = sim::SharedTable::Numbers(size, 0);
    settings.yield_policy = &rest;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      settings.job.rank = rank;
      settings.attach = [this, rank](sim::TransmissionList& finished) -> sim::Wire& {
        return network.attach(rank, finished);
      };
      ranks.push_back(std::make_unique<Rank>(settings));
    }
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      be(rank);
      MPI_Init(nullptr, nullptr);
    }
  }
  // The following calls belong to this rank.
  void be(std::uint32_t rank) const { ranks[rank]->be(); }

  sim::VirtualNetwork network;
  NoYield rest;
  std::vector<std::unique_ptr<Rank>> ranks;
};

int idle(std::uint32_t size, double most_megabytes) {
  const double before = resident_megabytes();
  const World world(size);
  const double taken = resident_megabytes() - before;
  std::printf("%u idle ranks: %.0f MB, %.0f kB each\n", size, taken, taken * 1e3 / size);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static_cast<void>(most_megabytes);  // the sanitizer's own memory makes the figure useless
  return 0;
#else
  return taken < most_megabytes ? 0 : 1;
#endif
}

int allreduce(std::uint32_t size, int rounds) {
  World world(size);
  std::vector<int> mine(size), sums(size);
  std::vector<MPI_Request> requests(size);
  int wrong = 0;
  const auto began = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds; ++round) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      world.be(rank);
      mine[rank] = static_cast<int>(rank) + round;
      sums[rank] = -1;
      MPI_Iallreduce(&mine[rank], &sums[rank], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[rank]);
    }
    for (std::uint32_t left = size; left != 0;) {
      for (std::uint32_t rank = 0; rank < size; ++rank) {
        if (requests[rank] == MPI_REQUEST_NULL) continue;
        world.be(rank);
        int over = 0;
        MPI_Test(&requests[rank], &over, MPI_STATUS_IGNORE);
        left -= static_cast<std::uint32_t>(over);
      }
      while (world.network.advance()) continue;
    }
    const int expected = std::accumulate(mine.begin(), mine.end(), 0);
    for (const int sum : sums) wrong += sum == expected ? 0 : 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf("%u ranks, %d allreduces: %.2f s, %.0f MB, %d wrong\n", size, rounds, took.count(), resident_megabytes(),
              wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: thousands_of_ranks idle RANKS MEGABYTES | allreduce RANKS ROUNDS\n");
    return 2;
  }
  const auto ranks = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  const int number = std::atoi(argv[3]);
  const int status = std::strcmp(argv[1], "idle") == 0 ? idle(ranks, number) : allreduce(ranks, number);
  // They stay between MPI_Init and MPI_Finalize: nothing is to be run at the end of this process.
  std::fflush(stdout);
  std::_Exit(status);
}
