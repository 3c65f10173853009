// A row of the registry of algorithms: one algorithm for one operation. Each algorithm's file ends with its rows;
// registry.cpp lists them. If an algorithm has several rows for an operation, the first that can do the call serves it.
// Only Algorithm::shared has several; they differ in the lengths and numbers of ranks that they serve, and in whether
// each rank needs a processor.
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

// The facts of a call by which its algorithm is chosen. Equal on all members. A view, valid while its Facts live.
struct CallFacts {
  Operation operation;
  // Bytes of one rank's data; of one block, where there are blocks; 0 for a barrier.
  std::uint64_t bytes;
  const Facts& facts;
  bool in_order = false;  // the reduction's operation does not commute
  // Bytes and ranks as real numbers, for cost formulas.
  [[nodiscard]] double n() const { return static_cast<double>(bytes); }
  [[nodiscard]] double ranks() const { return facts.ranks; }
  // Whether messages of this length are sent without a ready notice.
  [[nodiscard]] bool is_short() const { return bytes <= kHandshakeBytes; }
  // Bytes of all blocks of one rank, in operations with a block for each rank.
  [[nodiscard]] std::uint64_t blocks_bytes() const { return bytes * static_cast<std::uint64_t>(facts.ranks); }
};

// Whether an algorithm can do a call, and its cost by the formula on top of its file. cost() requires: can() returns
// true.
struct Formula {
  Algorithm algorithm;
  bool (*can)(const CallFacts& call);
  Cost (*cost)(const CallFacts& call);
};

// The structures of a communicator that routines use. `groups` and `team` live as long as the communicator.
struct Means {
  // The members by node, for algorithms of two levels and for grids.
  const NodeGroups& groups;
  // Not null if facts.shared.
  Team* team = nullptr;
  // Null except for hybrids. Valid only while the call begins, so routines copy it.
  const HybridPlan* plan = nullptr;
};

// A row with its routine. `run` begins this rank's part; the call's data outlives the routine.
template <typename Call>
struct Row : Formula {
  Steps (*run)(Collective& collective, const Means& means, const Call& call);
};

// Functions for Formula::can that several rows share. always(): the algorithm can do any call.
[[nodiscard]] inline bool always(const CallFacts& /*call*/) {
  return true;
}
// Empty data cannot be cut.
[[nodiscard]] inline bool has_bytes(const CallFacts& call) {
  return call.bytes != 0;
}
// A ring combines in an order of its own, so the operation must commute.
[[nodiscard]] inline bool has_bytes_in_any_order(const CallFacts& call) {
  return call.bytes != 0 && !call.in_order;
}
// A node's ranks need not be consecutive, so with several nodes the operation must commute.
[[nodiscard]] inline bool in_any_order_between_nodes(const CallFacts& call) {
  return !call.in_order || call.facts.nodes == 1;
}
// Flat reductions and gathers use tables, whose rows must be short (ReceiveRows).
[[nodiscard]] inline bool short_by_nodes(const CallFacts& call) {
  return call.is_short() && in_any_order_between_nodes(call);
}

}  // namespace margay::collectives
