// Names and numbers of collective operations and their algorithms; and the facts by which all members of a communicator
// choose the same algorithm.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "collectives/cost/rates.hpp"
#include "collectives/topology/crossings.hpp"
#include "collectives/topology/grid.hpp"
#include "portals/base/status.hpp"

namespace margay::collectives {

// A hybrid's plan as requested (--collective allreduce=hybrid:2x4l), as text and as a complete plan.

// A requested plan. The selector decides what it leaves open.
struct RequestedPlan {
  // One dimension of the grid, as far as the request determines it.
  struct Dimension {
    // Ranks along the dimension; 0: not requested.
    int length = 0;
    // The method by which data travels along it; nullopt: not requested.
    std::optional<Method> method = {};
    bool operator==(const Dimension&) const = default;
  };
  std::array<Dimension, HybridPlan::kMaxDimensions> dimensions = {};

  // Whether the request names the grid's lengths.
  [[nodiscard]] bool has_lengths() const { return dimensions[0].length != 0; }
  bool operator==(const RequestedPlan&) const = default;
};

// Parses "2x4": the lengths, the fastest dimension first (topology/grid). A letter may follow a length: s (short), l
// (long, by slices) or b (long, round a bucket's ring). Fails with a message that describes the syntax.
[[nodiscard]] portals::Status parse_plan(std::string_view text, RequestedPlan& out);

// Completes a requested plan for `ranks` ranks on `nodes` nodes with `on_node` each. Lengths that were not requested
// are a node's ranks and the nodes; dimensions are long, by slices, unless requested otherwise. nullopt: no
// plan fits that many ranks. `on_node` 0: nodes have different numbers of ranks, so lengths must be requested.
[[nodiscard]] std::optional<HybridPlan> complete_plan(const RequestedPlan& asked, int ranks, int nodes, int on_node);

// The collective operations of MPI, each with all its forms (gather, gatherv, igather, ...).
enum class Operation : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  allgather,
  scatter,
  alltoall,
  reduce_scatter,
  scan,
  exscan,
  neighbor_allgather,
  neighbor_alltoall,
};
// An operation's number in notices and traces (portal/notices). 0 is reserved for agreements.
[[nodiscard]] constexpr std::uint8_t operation_number(Operation operation) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(operation) + 1);
}
// The algorithms. Their numbers occur in traces and notices (docs/trace_format.md), so a new one is added at the end,
// and to kAlgorithms.
enum class Algorithm : std::uint8_t {
  // The minimum spanning tree; an allreduce and a barrier go to its root and out again.
  tree,
  // Rounds between partners.
  exchange,
  // Flat inside a node, the tree between the nodes' leaders.
  nodes,
  // Each block straight from its sender to its receiver.
  direct,
  // Round a ring, in pieces, each combined or sent on while the next one arrives.
  bucket,
  // By the dimensions of a grid, inside each node and between nodes.
  hybrid,
  // Through memory that all members map.
  shared,
  // Each rank to the next one, long data in pieces.
  chain,
};
// The number of operations; bounded by kShownOperations (portal/shown).
inline constexpr std::size_t kOperationCount = static_cast<std::size_t>(Operation::neighbor_alltoall) + 1;
// An algorithm's name, and the style of its curve in plots; dashes distinguish curves without colour.
struct AlgorithmStyle {
  std::string_view name;
  std::string_view colour;
  std::string_view dashes;
};
// In the order of the enumeration.
inline constexpr AlgorithmStyle kAlgorithms[] = {
    {"tree", "#0a5c9e", ""},           {"exchange", "#b5470b", "7 3"},       {"nodes", "#00735c", "2 3"},
    {"direct", "#8a2a7a", "10 3 2 3"}, {"bucket", "#6b5900", "5 2 1 2 1 2"}, {"hybrid", "#2b2b2b", "14 4"},
    {"shared", "#c01437", "1 2"},      {"chain", "#4d5a70", "4 4"},
};
// The number of algorithms: the rows of the table, which must be as many as the enumerators.
inline constexpr std::size_t kAlgorithmCount = std::size(kAlgorithms);
static_assert(kAlgorithmCount == static_cast<std::size_t>(Algorithm::chain) + 1);
// Requires: an enumerator; numbers from a wire are checked before.
[[nodiscard]] constexpr const AlgorithmStyle& style_of(Algorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}
// The operation with this number (operation_number); nullopt: none.
[[nodiscard]] constexpr std::optional<Operation> numbered_operation(std::uint32_t number) {
  if (number == 0 || number > kOperationCount) return std::nullopt;
  return static_cast<Operation>(number - 1);
}
// The names that options, traces and descriptions use.
[[nodiscard]] std::string_view name(Operation operation);
// An algorithm's name.
[[nodiscard]] constexpr std::string_view name(Algorithm algorithm) {
  return style_of(algorithm).name;
}

// Algorithms requested by name (--collective bcast=bucket), for experiments. The same on all members.
struct RequestedAlgorithms {
  // By operation; nullopt: the cheapest one.
  std::array<std::optional<Algorithm>, kOperationCount> algorithms = {};
  // The plans of requested hybrids, by operation.
  std::array<RequestedPlan, kOperationCount> plans = {};
  // The requested algorithm of an operation, by its index.
  [[nodiscard]] std::optional<Algorithm>& operator[](std::size_t operation) { return algorithms[operation]; }
  [[nodiscard]] const std::optional<Algorithm>& operator[](std::size_t operation) const {
    return algorithms[operation];
  }
};
// The facts of a communicator by which its members choose algorithms. All members determine the same facts, without a
// message.
struct Facts {
  // Members of the communicator.
  int ranks = 1;
  // Nodes that its members run on.
  int nodes = 1;
  // The largest number of members on one node.
  int most_on_node = 1;
  // Members on rank 0's node.
  int on_first_node = 1;
  // Whether each node has the same number of members.
  bool even = true;
  // Messages between nodes.
  Crossings crossings = {};
  // Ranks outnumber the processors, so ranks that wait yield.
  bool crowded = false;
  // If crowded: processors for its members when all ranks of the job are busy; 0: unknown.
  double processors = 0;
  // All members are on one node and share its memory, for calls that wait in place.
  bool shared = false;
  // Long data goes through that memory, too.
  bool strips = false;
  // Members read each other's own memory.
  bool reads = false;
  // The ranks of each node are consecutive, so node by node is the order of ranks.
  bool by_node = true;
  // The machine's rates, and what the user requested.
  Rates rates = usual_rates();
  RequestedAlgorithms requested = {};
};
// The facts that follow from a placement; `nodes[r]`: the node of rank r. O(p log p).
[[nodiscard]] Facts facts_of_nodes(std::span<const std::uint32_t> nodes);

}  // namespace margay::collectives
