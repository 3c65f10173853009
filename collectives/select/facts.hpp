// What the members of a communicator know in common without a word, found out once and kept with the communicator.
#pragma once

#include "collectives/portal/host.hpp"
#include "collectives/select/choice.hpp"
#include "collectives/topology/node_groups.hpp"
#include "mpi_adi/object/communicator.hpp"

namespace margay::collectives {

struct StandingFacts final : mpi_adi::CommunicatorExtension {
  StandingFacts(const Facts& found, NodeGroups members) : facts(found), groups(std::move(members)) {}
  const Facts facts;
  const NodeGroups groups;
};

// Of this communicator. Local.
[[nodiscard]] const StandingFacts& find_facts(Host& host, mpi_adi::Communicator& communicator);
[[nodiscard]] inline const StandingFacts& facts_of(Host& host, mpi_adi::Communicator& communicator) {
  const mpi_adi::CommunicatorExtension* const known = communicator.collective_facts.get();
  return known != nullptr ? static_cast<const StandingFacts&>(*known) : find_facts(host, communicator);
}

}  // namespace margay::collectives
