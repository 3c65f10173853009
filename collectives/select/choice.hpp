// Which algorithm a collective call takes. A pure function of facts that all members of the communicator share: they
// must choose the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "collectives/select/rates.hpp"
#include "collectives/topology/crossings.hpp"
#include "portals/base/status.hpp"

namespace margay::collectives {

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
enum class Algorithm : std::uint8_t {
  tree,      // the minimum spanning tree; allreduce and barrier: in and out
  exchange,  // rounds between partners
  nodes,     // flat inside a node, the tree between the nodes' leaders
  direct,    // each block straight from its sender to its receiver
  bucket,    // round a ring, in pieces, each combined or sent on while the next one comes
  hybrid,    // by two dimensions, inside each node and between them
  shared,    // through memory that all members see
  chain,     // each rank to the next one, long data in pieces
};
inline constexpr std::size_t kOperationCount = static_cast<std::size_t>(Operation::neighbor_alltoall) + 1;
inline constexpr std::size_t kAlgorithmCount = static_cast<std::size_t>(Algorithm::chain) + 1;
[[nodiscard]] std::string_view name(Operation operation);
[[nodiscard]] std::string_view name(Algorithm algorithm);

// Algorithms that were asked for by name (--collective bcast=bucket), for experiments: the same on all members.
using AskedFor = std::array<std::optional<Algorithm>, kOperationCount>;
// "bcast=bucket,allreduce=tree". What is no operation, or what it cannot be done by, is an error, which names it.
[[nodiscard]] portals::Status parse_asked_for(std::string_view text, AskedFor& out);
// "tree|direct|bucket", of an operation; empty where there is nothing to choose.
[[nodiscard]] std::string algorithms_of(Operation operation);

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
  Rates rates = usual_rates();
  AskedFor asked_for = {};
};
// `nodes[r]`: the node of rank r. All that follows from it.
[[nodiscard]] Facts facts_of_nodes(std::span<const std::uint32_t> nodes);

// Which algorithms there are for an operation, and whether it can do this call. `in_order`: an operation that does not
// commute.
[[nodiscard]] bool does(Algorithm algorithm, Operation operation);
[[nodiscard]] bool can(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts,
                       bool in_order = false);

// Lengths that are judged alike, as `judged_as`: all up to kHandshakeBytes, so that ranks which name different ones of
// them meet in one algorithm; above, where receivers are asked, from one power of two to the next one.
struct LengthClass {
  std::size_t number;
  std::uint64_t shortest, longest, judged_as;
};
inline constexpr std::size_t kLengthClasses = 48;
[[nodiscard]] LengthClass class_of(std::uint64_t bytes);

// Of a class, by least seconds() (cost): of all algorithms, and of those that can do each length of it.
struct ClassChoice {
  Algorithm best;
  Algorithm of_all;
};
[[nodiscard]] ClassChoice choose_for(Operation operation, const LengthClass& lengths, const Facts& facts,
                                     bool in_order);

// `bytes`: of one rank's data, the same on all (of blocks: of one block); 0 for a barrier. What was asked for by name
// and cannot do the call is passed over.
[[nodiscard]] Algorithm choose(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order = false);

// The same with its reason, for people.
struct Choice {
  Algorithm algorithm = Algorithm::tree;
  std::string reason;
};
[[nodiscard]] Choice select(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order = false);

// What was chosen on one communicator, by operation and class: a call looks it up in a few nanoseconds; what was not
// asked for yet is chosen then.
class Chosen {
 public:
  // As choose(). Requires: `facts` are the same each time.
  [[nodiscard]] Algorithm of(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order);

 private:
  using Classes = std::array<std::optional<ClassChoice>, kLengthClasses>;
  std::array<std::array<std::unique_ptr<Classes>, 2>, kOperationCount> known_;  // by operation and whether in order
};

}  // namespace margay::collectives
