// Names and numbers of collective operations and their algorithms, and what all members of a communicator know of it,
// so that they choose the same.
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

// A hybrid's plan as it is asked for (--collective allreduce=hybrid:2x4l): as text, and made into a whole one.

// What is not said is for the selector to decide.
struct AskedPlan {
  struct Dimension {
    int length = 0;  // 0: there is none
    std::optional<Way> way = {};
    bool operator==(const Dimension&) const = default;
  };
  std::array<Dimension, HybridPlan::kMaxDimensions> dimensions = {};

  [[nodiscard]] bool says_lengths() const { return dimensions[0].length != 0; }
  bool operator==(const AskedPlan&) const = default;
};

// "2x4": lengths, the fastest dimension first (topology/grid); each may have a letter behind it: s, short; l, long, by
// slices; b, long, round a bucket's ring. Anything else is an error, which says what it can be.
[[nodiscard]] portals::Status parse_plan(std::string_view text, AskedPlan& out);

// The plan of `ranks` ranks on `nodes` nodes, each of `on_node`: the lengths that were asked for, or a node's ranks and
// the nodes; long by slices where nothing else was asked for. nullopt: that many ranks have no such plan. `on_node` 0:
// nodes have different numbers of ranks, so only lengths that are asked for will do.
[[nodiscard]] std::optional<HybridPlan> complete_plan(const AskedPlan& asked, int ranks, int nodes, int on_node);

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
// What a notice says of it (portal/notices); 0 says nothing.
[[nodiscard]] constexpr std::uint8_t operation_number(Operation operation) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(operation) + 1);
}
// Numbers are those of traces and notices (docs/trace_format.md): new ones go to the end, and to kAlgorithms.
enum class Algorithm : std::uint8_t {
  tree,      // the minimum spanning tree; allreduce and barrier: in and out
  exchange,  // rounds between partners
  nodes,     // flat inside a node, the tree between the nodes' leaders
  direct,    // each block straight from its sender to its receiver
  bucket,    // round a ring, in pieces, each combined or sent on while the next one comes
  hybrid,    // by the dimensions of a grid, inside each node and between them
  shared,    // through memory that all members see
  chain,     // each rank to the next one, long data in pieces
};
inline constexpr std::size_t kOperationCount = static_cast<std::size_t>(Operation::neighbor_alltoall) + 1;
// Its name, and its curve in plots, which eyes that see no colour distinguish by its dashes.
struct AlgorithmStyle {
  std::string_view name;
  std::string_view colour;
  std::string_view dashes;
};
inline constexpr AlgorithmStyle kAlgorithms[] = {
    {"tree", "#0a5c9e", ""},           {"exchange", "#b5470b", "7 3"},       {"nodes", "#00735c", "2 3"},
    {"direct", "#8a2a7a", "10 3 2 3"}, {"bucket", "#6b5900", "5 2 1 2 1 2"}, {"hybrid", "#2b2b2b", "14 4"},
    {"shared", "#c01437", "1 2"},      {"chain", "#4d5a70", "4 4"},
};
inline constexpr std::size_t kAlgorithmCount = std::size(kAlgorithms);
static_assert(kAlgorithmCount == static_cast<std::size_t>(Algorithm::chain) + 1);
[[nodiscard]] constexpr const AlgorithmStyle& style_of(Algorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}
// The operation of such a number; nothing: it says nothing.
[[nodiscard]] constexpr std::optional<Operation> numbered_operation(std::uint32_t number) {
  if (number == 0 || number > kOperationCount) return std::nullopt;
  return static_cast<Operation>(number - 1);
}
[[nodiscard]] std::string_view name(Operation operation);
[[nodiscard]] constexpr std::string_view name(Algorithm algorithm) {
  return style_of(algorithm).name;
}

// Algorithms that were asked for by name (--collective bcast=bucket), for experiments: the same on all members.
struct AskedFor {
  std::array<std::optional<Algorithm>, kOperationCount> algorithms = {};
  std::array<AskedPlan, kOperationCount> plans = {};  // of hybrids
  [[nodiscard]] std::optional<Algorithm>& operator[](std::size_t operation) { return algorithms[operation]; }
  [[nodiscard]] const std::optional<Algorithm>& operator[](std::size_t operation) const {
    return algorithms[operation];
  }
};
// What all members know of their communicator.
struct Facts {
  int ranks = 1;
  int nodes = 1;             // that its members run on
  int most_on_node = 1;      // members on one node
  int on_first_node = 1;     // members on rank 0's
  bool even = true;          // each node has as many
  Crossings crossings = {};  // what goes between nodes
  bool crowded = false;      // ranks that wait yield: they outnumber the processors
  double processors = 0;     // crowded: that its members have, when all ranks of the job are busy
  bool shared = false;       // they meet in memory of their node: for calls that wait in place
  bool strips = false;       // and long data goes through it too
  bool reads = false;        // and they read what others show of their own memory
  bool by_node = true;       // ranks of a node follow each other, so node by node is the order of ranks
  Rates rates = usual_rates();
  AskedFor asked_for = {};
};
// `nodes[r]`: the node of rank r. All that follows from it.
[[nodiscard]] Facts facts_of_nodes(std::span<const std::uint32_t> nodes);

}  // namespace margay::collectives
