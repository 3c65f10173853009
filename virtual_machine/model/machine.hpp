// A machine that `margay simulate` imitates: nodes, processors and networks, as a machine file describes them
// (docs/machines.md). Plain data; NetworkModel computes with it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::virtual_machine {

// The connections between switches, which determine the routes of messages (fabric.hpp).
enum class Topology : std::uint8_t { crossbar, mesh, torus, fat_tree, hypercube };

// The assignment of ranks to nodes. block: fills a node before the next. round_robin: one rank on each node in turn.
enum class Placement : std::uint8_t { block, round_robin };

// The nodes between which a network carries messages: all, or those of one partition.
enum class Reach : std::uint8_t { any, partition };

// An unlimited bandwidth.
inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// One network of a machine. The program-to-program time of a message on an idle network is
//   send_overhead_ns + latency_ns + hops * hop_ns + bytes / (least of the three bandwidths) + poll_ns
//   + receive_overhead_ns,
// where a hop is a link between two switches.
struct Network {
  // For reports; different for each network of a machine.
  std::string name;
  Topology topology = Topology::crossbar;
  Reach applies = Reach::any;
  // Of mesh and torus: switches along each dimension, x first; 0: as many as needed.
  std::vector<std::uint32_t> shape;
  // Of fat_tree: ports of a switch to the switches (or nodes) below it, and as many to those above it.
  std::uint32_t arity = 0;
  // Of mesh, torus and hypercube.
  std::uint32_t nodes_per_switch = 1;
  // The bandwidth of each link in each direction, and of a node's port for sending and for receiving.
  double link_bytes_per_s = 0;
  double injection_bytes_per_s = 0;
  double ejection_bytes_per_s = 0;
  // The fixed time of a message in the network, and the time of each hop.
  std::uint64_t latency_ns = 0;
  std::uint64_t hop_ns = 0;
  // Processor time of a message's sender and of its receiver, and of each test for an arrived message. With a
  // coprocessor, that processor spends the receiver's time, and the rank's own remains free.
  std::uint64_t send_overhead_ns = 0;
  std::uint64_t receive_overhead_ns = 0;
  std::uint64_t poll_ns = 0;
  // The longest body that travels with its header; 0: the library's own limit.
  std::uint64_t short_limit = 0;
};

// All figures of a machine. Times are in nanoseconds, bandwidths in bytes per second.
struct Machine {
  std::string name;
  // One sentence.
  std::string description;
  // The sources of the figures: paper, section, quoted figure.
  std::vector<std::string> sources;
  // 0: as many as the ranks need.
  std::uint32_t nodes = 0;
  // Processors that run ranks, one rank on each.
  std::uint32_t processors_per_node = 1;
  // Whether a node has a further processor, which polls and receives for its ranks while they compute.
  bool coprocessor = false;
  // Virtual time of a computation, as a multiple of the measured one.
  double cpu_scale = 1;
  Placement placement = Placement::block;
  // Consecutive nodes that form a partition; 0: all nodes form one.
  std::uint32_t nodes_per_partition = 0;
  // Memory of a node, the transport between its ranks. A message takes memory_overhead_ns of its sender's processor,
  // the copy and memory_latency_ns, and memory_overhead_ns of its receiver's processor. Copies of several ranks do not
  // slow each other.
  double memory_bytes_per_s = 0;
  std::uint64_t memory_latency_ns = 0;
  std::uint64_t memory_overhead_ns = 0;
  // In the order of preference: a message takes the first one that reaches its target. One of them applies to all
  // nodes.
  std::vector<Network> networks;
};

// Bounds of a machine, far above what the ranks of a job need: node numbers and counts of links then fit into 32 bits.
inline constexpr std::uint32_t kNodesMost = 1U << 20;
inline constexpr std::uint32_t kProcessorsPerNodeMost = 1U << 16;
inline constexpr std::size_t kDimensionsMost = 8;

// Parses the text of a machine file. `file_name` is for messages only. On failure `out` is unchanged, and the message
// names file, line, column and field, and the allowed values.
[[nodiscard]] portals::Status parse_machine(std::string_view text, std::string_view file_name, Machine& out);

// The places for nodes of a mesh or a torus of fixed shape, or a number above kNodesMost; 0: no limit.
[[nodiscard]] std::uint64_t places_of(const Network& network);

// The nodes that a world of ranks sees: those of the machine, or as many as the ranks need.
[[nodiscard]] std::uint32_t nodes_for(const Machine& machine, std::uint32_t ranks);

// Whether this many ranks, each with a processor of its own, fit onto the machine. Requires: `machine` is as
// parse_machine() returns it, perhaps with other values within the bounds of their fields.
[[nodiscard]] portals::Status check_ranks(const Machine& machine, std::uint32_t ranks);

}  // namespace margay::virtual_machine
