// What the members of a communicator know in common, agreed on once and kept with the communicator.
#pragma once

#include "collectives/portal/collective.hpp"
#include "collectives/select/choice.hpp"
#include "collectives/topology/node_groups.hpp"
#include "mpi_adi/object/communicator.hpp"

namespace margay::collectives {

struct StandingFacts final : mpi_adi::CommunicatorExtension {
  StandingFacts(const Facts& agreed, NodeGroups members) : facts(agreed), groups(std::move(members)) {}
  const Facts facts;
  const NodeGroups groups;
};

// Of this communicator; nullptr: not agreed on yet.
[[nodiscard]] inline const StandingFacts* known_facts(const mpi_adi::Communicator& communicator) {
  return static_cast<const StandingFacts*>(communicator.collective_facts.get());
}
// Agrees on them in a call that is for nothing else: a reduction and a broadcast along the spanning tree. They are
// known afterwards, unless `agreement` failed; then the next call tries again.
[[nodiscard]] Steps agree_on_facts(Collective& agreement);
// Of this communicator; agreed on when this is the first call that asks, which is then collective. nullptr: that
// failed, and `error_class` says how.
[[nodiscard]] const StandingFacts* facts_of(TreePortal& portal, mpi_adi::Communicator& communicator, int& error_class);

}  // namespace margay::collectives
