#include "collectives/select/facts.hpp"

#include <vector>

#include "collectives/algorithm/bcast_tree.hpp"
#include "collectives/algorithm/reduce_tree.hpp"

namespace margay::collectives {

namespace {

// Processes of one job may be allowed different processors, and their nodes may have different numbers of ranks: each
// knows only how it waits itself.
bool somebody_is_crowded(TreePortal& portal, mpi_adi::Communicator& communicator, int& error_class) {
  std::uint64_t crowded = portal.host().crowded() ? 1 : 0;
  if (communicator.size() == 1) return crowded != 0;
  Collective collective(portal, communicator);
  auto* const bytes = reinterpret_cast<std::byte*>(&crowded);
  reduce_tree(collective, 0, bytes, 1, sizeof crowded, predefined_combine(MPI_BOR, MPI_UINT64_T));
  bcast_tree(collective, 0, portals::Region(bytes, sizeof crowded));
  error_class = collective.error_class();
  return crowded != 0;
}

std::vector<std::uint32_t> nodes_of(TreePortal& portal, const mpi_adi::Communicator& communicator) {
  std::vector<std::uint32_t> nodes;
  nodes.reserve(communicator.group->world_ranks.size());
  for (const std::uint32_t rank : communicator.group->world_ranks) nodes.push_back(portal.host().node_of(rank));
  return nodes;
}

}  // namespace

const StandingFacts* facts_of(TreePortal& portal, mpi_adi::Communicator& communicator, int& error_class) {
  if (communicator.collective_facts == nullptr) [[unlikely]] {
    const bool crowded = somebody_is_crowded(portal, communicator, error_class);
    if (error_class != MPI_SUCCESS) return nullptr;
    NodeGroups groups(nodes_of(portal, communicator), communicator.rank());
    const Facts facts{communicator.size(), groups.nodes(), groups.most(), crowded};
    communicator.collective_facts = std::make_unique<StandingFacts>(facts, std::move(groups));
  }
  return static_cast<const StandingFacts*>(communicator.collective_facts.get());
}

}  // namespace margay::collectives
