// The facts by which collective calls choose an algorithm. All members of a communicator determine the same ones
// without messages; they are kept with the communicator.
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

// The facts as a call uses them, with references to the structures and choices that belong to them. KnownFacts owns the
// structures and choices.
struct StandingFacts {
  // Constant after the first call, because `chosen` depends on them.
  Facts facts;
  const NodeGroups& groups;
  Team* team;      // not null if facts.shared
  Chosen& chosen;  // the choices by these facts
  // The algorithm of a call of `bytes`; see Chosen.
  [[nodiscard]] Algorithm choose(Operation operation, std::uint64_t bytes, bool in_order = false) const {
    return chosen.of(operation, bytes, facts, in_order);
  }
  // The same for a reduction, whose elements may be longer than a strip.
  [[nodiscard]] Algorithm choose(Operation operation, const Reduction& reduction) const;
  // The plan of a call by a hybrid.
  [[nodiscard]] HybridPlan hybrid_plan(Operation operation, std::uint64_t bytes, bool in_order = false) const {
    return chosen.hybrid_plan(operation, bytes, facts, in_order);
  }
};

// The data that collectives keep with a communicator: its groups by node, its team, and two sets of facts, because
// nonblocking calls cannot use shared memory. The communicator owns it.
class KnownFacts final : public mpi_adi::CommunicatorExtension {
 public:
  // `host` and the communicator outlive it.
  KnownFacts(Host& host, const mpi_adi::Communicator& communicator, const Facts& found, NodeGroups members,
             std::optional<Team> team)
      : host_(host),
        communicator_(communicator),
        groups_(std::move(members)),
        team_(std::move(team)),
        nonblocking_{found, groups_, nullptr, nonblocking_chosen_},
        blocking_{found, groups_, nullptr, blocking_chosen_} {
    // Both sets are equal for communicators without a place in the node's memory.
    if (!team_) return;
    blocking_.facts.shared = true;
    // Strips serve long data, and a place with strips also has postings (Team::has_strips()).
    blocking_.facts.strips = team_->has_strips();
    asks_for_reading_ = team_->has_strips();
    blocking_.team = &*team_;
  }
  // For nonblocking calls: without shared memory, since data there wakes no task.
  [[nodiscard]] const StandingFacts& of_nonblocking() const { return nonblocking_; }
  // For blocking calls. The first such call waits until another process of the node has started, to find out whether
  // members read each other's memory.
  [[nodiscard]] const StandingFacts& of_blocking() {
    if (asks_for_reading_) [[unlikely]]
      ask_for_reading();
    return blocking_;
  }
  // Leaves the team when the communicator ends. The result prevents a reuse of the contexts until all members have
  // left. nullptr: all have left, or there is no team; the contexts may be reused at once.
  [[nodiscard]] std::unique_ptr<mpi_adi::ContextHold> end() override;

 private:
  // Finds out whether members read each other's memory; waits for a second process of the node.
  void ask_for_reading();

  // Used by ask_for_reading() only.
  Host& host_;
  // The communicator that owns this.
  const mpi_adi::Communicator& communicator_;
  NodeGroups groups_;
  std::optional<Team> team_;
  // Choices by the two sets of facts: nonblocking calls, blocking ones.
  Chosen nonblocking_chosen_, blocking_chosen_;
  StandingFacts nonblocking_, blocking_;
  // ask_for_reading() is still to be called.
  bool asks_for_reading_ = false;
};

// The facts of a communicator, found in its first collective call, without messages. O(p log p).
[[nodiscard]] KnownFacts& find_facts(Host& host, mpi_adi::Communicator& communicator);
// The same on the path of each call: a load and a test.
[[nodiscard]] inline KnownFacts& facts_of(Host& host, mpi_adi::Communicator& communicator) {
  mpi_adi::CommunicatorExtension* const known = communicator.collective_facts.get();
  return known != nullptr ? static_cast<KnownFacts&>(*known) : find_facts(host, communicator);
}

}  // namespace margay::collectives
