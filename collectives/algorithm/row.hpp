// A row of the registry of algorithms: what one algorithm is for one operation. Each algorithm's file ends with its
// rows; registry.cpp lists them. An algorithm that has several rows for an operation goes by the first that can do the
// call: those through memory (Algorithm::shared), by length and company.
#pragma once

#include "collectives/algorithm/calls.hpp"
#include "collectives/cost/counts.hpp"
#include "collectives/cost/facts.hpp"
#include "collectives/portal/collective.hpp"
#include "collectives/portal/team.hpp"
#include "collectives/portal/tree_portal.hpp"
#include "collectives/topology/grid.hpp"
#include "collectives/topology/node_groups.hpp"

namespace margay::collectives {

// A call as the choice sees it: the same on all members.
struct Ask {
  Operation operation;
  std::uint64_t bytes;  // of one rank's data; of blocks: of one block; 0 for a barrier
  const Facts& facts;
  bool in_order = false;  // a reduction by an operation that does not commute
  [[nodiscard]] double n() const { return static_cast<double>(bytes); }
  [[nodiscard]] double ranks() const { return facts.ranks; }
  [[nodiscard]] bool is_short() const { return bytes <= kHandshakeBytes; }
  // Of operations that have a block for each rank: of all of one rank's.
  [[nodiscard]] std::uint64_t blocks_bytes() const { return bytes * static_cast<std::uint64_t>(facts.ranks); }
};

// Whether an algorithm can do a call, and what that takes: the formula on top of its file. Requires of cost: it can.
struct Formula {
  Algorithm algorithm;
  bool (*can)(const Ask& ask);
  Cost (*cost)(const Ask& ask);
};

// What a communicator has for its calls. `groups` and `team` stay as long as the communicator.
struct Means {
  const NodeGroups& groups;
  Team* team = nullptr;              // facts.shared: not null
  const HybridPlan* plan = nullptr;  // hybrids only; while the call begins
};

// `run`: this rank's part. The call's data stays until its end.
template <typename Call>
struct Row : Formula {
  Steps (*run)(Collective& collective, const Means& means, const Call& call);
};

// What rows say of can.
[[nodiscard]] inline bool always(const Ask& /*ask*/) {
  return true;
}
// Data of no bytes has nothing to cut.
[[nodiscard]] inline bool has_bytes(const Ask& ask) {
  return ask.bytes != 0;
}
// A ring combines in an order of its own.
[[nodiscard]] inline bool has_bytes_in_any_order(const Ask& ask) {
  return ask.bytes != 0 && !ask.in_order;
}
// Over several nodes the ranks of a node need not be neighbors.
[[nodiscard]] inline bool in_any_order_between_nodes(const Ask& ask) {
  return !ask.in_order || ask.facts.nodes == 1;
}
// Flat reductions and gathers take rows that nobody asks for.
[[nodiscard]] inline bool short_by_nodes(const Ask& ask) {
  return ask.is_short() && in_any_order_between_nodes(ask);
}

}  // namespace margay::collectives
