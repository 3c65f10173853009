#include "mpi_adi/rank/wait.hpp"

#include <cstdio>
#include <string>

namespace margay::mpi_adi {

void report_stall(MpiRank& rank, std::uint64_t idle_ns) {
  constexpr std::size_t kLines = 12;
  std::string text = "margay: rank " + std::to_string(rank.process().rank()) + " has waited " +
                     std::to_string(idle_ns / 1'000'000'000) + " s in " + rank.process().board().mpi_call.data() +
                     " without progress\n";
  rank.device().describe(text, kLines);
  std::fputs(text.c_str(), stderr);
}

}  // namespace margay::mpi_adi
