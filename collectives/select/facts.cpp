#include "collectives/select/facts.hpp"

#include <vector>

#include "portals/base/assert.hpp"

namespace margay::collectives {

// What only one process knows (how it waits, how busy it is) has no place here: members would choose differently.
const StandingFacts& find_facts(Host& host, mpi_adi::Communicator& communicator) {
  std::vector<std::uint32_t> nodes;
  nodes.reserve(communicator.group->world_ranks.size());
  for (const std::uint32_t rank : communicator.group->world_ranks) nodes.push_back(host.node_of(rank));
  NodeGroups groups(nodes, communicator.rank());
  Facts facts{communicator.size(), groups.nodes(), groups.most(), host.crowded(), groups.even()};
  const portals::Status asked = parse_asked_for(host.asked_algorithms(), facts.asked_for);
  MARGAY_ASSERT(asked.ok());  // the job does not begin with others
  auto found = std::make_unique<StandingFacts>(facts, std::move(groups));
  const StandingFacts& standing = *found;
  communicator.collective_facts = std::move(found);
  return standing;
}

}  // namespace margay::collectives
