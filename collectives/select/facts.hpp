// What the members of a communicator know in common, agreed on once and kept with the communicator.
#pragma once

#include "collectives/portal/tree_portal.hpp"
#include "collectives/select/choice.hpp"
#include "collectives/topology/node_groups.hpp"
#include "mpi_adi/object/communicator.hpp"

namespace margay::collectives {

struct StandingFacts final : mpi_adi::CommunicatorExtension {
  StandingFacts(const Facts& agreed, NodeGroups members) : facts(agreed), groups(std::move(members)) {}
  const Facts facts;
  const NodeGroups groups;
};

// Of this communicator; agreed on when this is the first call that asks, which is then collective: a reduction and a
// broadcast along the spanning tree. nullptr: that failed, and `error_class` says how; the next call tries again.
[[nodiscard]] const StandingFacts* facts_of(TreePortal& portal, mpi_adi::Communicator& communicator, int& error_class);

}  // namespace margay::collectives
