#include "collectives/portal/rank_host.hpp"

#include "mpi_adi/rank/wait.hpp"

namespace margay::collectives {

void RankHost::wait(Until done, int messages) {
  mpi_adi::wait_until(rank_, done, messages);
}

bool RankHost::crowded() const {
  return rank_.process().job().crowded;
}

std::uint32_t RankHost::node_of(std::uint32_t world_rank) const {
  return rank_.process().job().node_of_rank[world_rank];
}

}  // namespace margay::collectives
