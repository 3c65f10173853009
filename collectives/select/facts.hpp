// What the members of a communicator know in common without a word, found out once and kept with the communicator.
#pragma once

#include <memory>
#include <optional>

#include "collectives/algorithm/calls.hpp"
#include "collectives/portal/host.hpp"
#include "collectives/portal/team.hpp"
#include "collectives/select/choose.hpp"
#include "collectives/topology/node_groups.hpp"
#include "mpi_adi/object/communicator.hpp"

namespace margay::collectives {

// As a call has them.
struct StandingFacts {
  Facts facts;
  const NodeGroups& groups;
  Team* team;      // facts.shared: not null
  Chosen& chosen;  // by these facts
  [[nodiscard]] Algorithm choose(Operation operation, std::uint64_t bytes, bool in_order = false) const {
    return chosen.of(operation, bytes, facts, in_order);
  }
  // The same of a reduction, which may have elements of more bytes than a strip.
  [[nodiscard]] Algorithm choose(Operation operation, const Reduction& reduction) const;
  // Of a call that takes the hybrid.
  [[nodiscard]] HybridPlan hybrid_plan(Operation operation, std::uint64_t bytes, bool in_order = false) const {
    return chosen.hybrid_plan(operation, bytes, facts, in_order);
  }
};

class KnownFacts final : public mpi_adi::CommunicatorExtension {
 public:
  // `host` outlives it, and so does the communicator, whose facts these are.
  KnownFacts(Host& host, const mpi_adi::Communicator& communicator, const Facts& found, NodeGroups members,
             std::optional<Team> team)
      : host_(host),
        communicator_(communicator),
        groups_(std::move(members)),
        team_(std::move(team)),
        stopping_{found, groups_, nullptr, stopping_chosen_},
        waiting_{found, groups_, nullptr, waiting_chosen_} {
    if (!team_) return;
    waiting_.facts.shared = true;
    waiting_.facts.strips = team_->has_strips();
    asks_for_reading_ = team_->has_strips();
    waiting_.team = &*team_;
  }
  // Of a call that stops where it has to wait: who looks at memory must be looking.
  [[nodiscard]] const StandingFacts& of_stopping() const { return stopping_; }
  // Of one that waits in place: the first such call waits until another process of the node is there, if none was yet.
  [[nodiscard]] const StandingFacts& of_waiting() {
    if (asks_for_reading_) [[unlikely]]
      ask_for_reading();
    return waiting_;
  }
  [[nodiscard]] std::unique_ptr<mpi_adi::ContextHold> end() override;

 private:
  void ask_for_reading();

  Host& host_;
  const mpi_adi::Communicator& communicator_;
  NodeGroups groups_;
  std::optional<Team> team_;
  Chosen stopping_chosen_, waiting_chosen_;
  StandingFacts stopping_, waiting_;
  bool asks_for_reading_ = false;
};

// Of this communicator. Local.
[[nodiscard]] KnownFacts& find_facts(Host& host, mpi_adi::Communicator& communicator);
[[nodiscard]] inline KnownFacts& facts_of(Host& host, mpi_adi::Communicator& communicator) {
  mpi_adi::CommunicatorExtension* const known = communicator.collective_facts.get();
  return known != nullptr ? static_cast<KnownFacts&>(*known) : find_facts(host, communicator);
}

}  // namespace margay::collectives
