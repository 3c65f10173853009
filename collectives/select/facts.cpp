#include "collectives/select/facts.hpp"

#include <vector>

#include "collectives/algorithm/bcast_tree.hpp"
#include "collectives/algorithm/reduce_tree.hpp"

namespace margay::collectives {

namespace {

std::vector<std::uint32_t> nodes_of(TreePortal& portal, const mpi_adi::Communicator& communicator) {
  std::vector<std::uint32_t> nodes;
  nodes.reserve(communicator.group->world_ranks.size());
  for (const std::uint32_t rank : communicator.group->world_ranks) nodes.push_back(portal.host().node_of(rank));
  return nodes;
}

}  // namespace

// Processes of one job may be allowed different processors, and their nodes may have different numbers of ranks: each
// knows only how it waits itself.
Steps agree_on_facts(Collective& agreement) {
  TreePortal& portal = agreement.portal();
  mpi_adi::Communicator& communicator = agreement.communicator();
  std::uint64_t crowded = portal.host().crowded() ? 1 : 0;
  auto* const bytes = reinterpret_cast<std::byte*>(&crowded);
  co_await reduce_tree(agreement, 0, bytes, 1, sizeof crowded, predefined_combine(MPI_BOR, MPI_UINT64_T));
  co_await bcast_tree(agreement, 0, portals::Region(bytes, sizeof crowded));
  if (agreement.error_class() != MPI_SUCCESS) co_return;
  NodeGroups groups(nodes_of(portal, communicator), communicator.rank());
  const Facts facts{communicator.size(), groups.nodes(), groups.most(), crowded != 0};
  communicator.collective_facts = std::make_unique<StandingFacts>(facts, std::move(groups));
}

namespace {

[[gnu::noinline]] const StandingFacts* agree_now(TreePortal& portal, mpi_adi::Communicator& communicator,
                                                 int& error_class) {
  // A call that does not block may be about to.
  const auto known = [&] { return known_facts(communicator) != nullptr || !portal.order().agrees(communicator); };
  if (!known()) portal.host().wait(known, 1);
  if (known_facts(communicator) == nullptr) {
    Collective agreement(portal, communicator);
    run(agree_on_facts(agreement));
    error_class = agreement.error_class();
  }
  return known_facts(communicator);
}

}  // namespace

const StandingFacts* facts_of(TreePortal& portal, mpi_adi::Communicator& communicator, int& error_class) {
  const StandingFacts* const known = known_facts(communicator);
  return known != nullptr ? known : agree_now(portal, communicator, error_class);
}

}  // namespace margay::collectives
