#include "virtual_machine/model/machine_fields.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <type_traits>

namespace margay::virtual_machine {
namespace {

constexpr std::array<std::string_view, 5> kTopologies = {"crossbar", "mesh", "torus", "fat_tree", "hypercube"};
constexpr std::array<std::string_view, 2> kPlacements = {"block", "round_robin"};
constexpr std::array<std::string_view, 2> kReaches = {"any", "partition"};

// An hour: the sum of a message's times then stays far below 2^64.
constexpr double kTimeMost = 3600e9;
// The time of a message of 2^40 bytes then still fits into 64 bits.
constexpr double kBandwidthLeast = 1000;
// Switches have far fewer ports.
constexpr double kArityMost = 1024;

constexpr std::array<Field<Machine>, 12> kMachineFields = {{
    {.name = "name", .member = &Machine::name, .meaning = "the machine's name, in reports"},
    {.name = "description", .member = &Machine::description, .meaning = "one sentence about the machine"},
    {.name = "sources", .member = &Machine::sources, .meaning = "where the figures are from: paper, section, figure"},
    {.name = "nodes",
     .member = &Machine::nodes,
     .most = kNodesMost,
     .meaning = "nodes of the machine; 0: as many as the ranks need"},
    {.name = "processors_per_node",
     .member = &Machine::processors_per_node,
     .least = 1,
     .most = kProcessorsPerNodeMost,
     .meaning = "processors of a node that run ranks, one rank on each"},
    {.name = "coprocessor",
     .member = &Machine::coprocessor,
     .meaning = "whether a node has a further processor that polls and receives, so that this costs ranks no time"},
    {.name = "cpu_scale",
     .member = &Machine::cpu_scale,
     .least = 1e-6,
     .most = 1e6,
     .meaning = "time of a computation on the machine, as a multiple of the time that it takes here"},
    {.name = "memory_bytes_per_s",
     .member = &Machine::memory_bytes_per_s,
     .least = kBandwidthLeast,
     .most = kUnlimited,
     .meaning = "speed of a copy between two ranks of a node"},
    {.name = "memory_latency_ns",
     .member = &Machine::memory_latency_ns,
     .most = kTimeMost,
     .meaning = "time from the end of that copy until the receiver can see the message"},
    {.name = "memory_overhead_ns",
     .member = &Machine::memory_overhead_ns,
     .most = kTimeMost,
     .meaning = "processor time of the sender, and again of the receiver, of a message inside a node"},
    {.name = "placement",
     .member = &Machine::placement,
     .fallback = "block",
     .meaning = "ranks of a node: block fills a node before the next, round_robin puts one rank on each in turn"},
    {.name = "nodes_per_partition",
     .member = &Machine::nodes_per_partition,
     .most = kNodesMost,
     .fallback = "0",
     .meaning = "consecutive nodes that form a partition; 0: all nodes form one"},
}};

constexpr std::array<Field<Network>, 15> kNetworkFields = {{
    {.name = "name", .member = &Network::name, .meaning = "the network's name, in reports; each has another"},
    {.name = "topology", .member = &Network::topology, .meaning = "how switches are connected"},
    {.name = "applies",
     .member = &Network::applies,
     .fallback = "any",
     .meaning = "partition: carries messages only inside a partition; a message takes the first network that applies"},
    {.name = "shape",
     .member = &Network::shape,
     .most = kNodesMost,
     .fallback = "[]",
     .meaning = "of mesh and torus only, and required there: switches along each dimension, x first, up to 8 "
                "dimensions; 0: as many as needed"},
    {.name = "arity",
     .member = &Network::arity,
     .least = 2,
     .most = kArityMost,
     .fallback = "none",
     .meaning = "of fat_tree only, and required there: ports of a switch downwards, and as many upwards"},
    {.name = "nodes_per_switch",
     .member = &Network::nodes_per_switch,
     .least = 1,
     .most = kArityMost,
     .fallback = "1",
     .meaning = "of mesh, torus and hypercube only: nodes on each switch"},
    {.name = "link_bytes_per_s",
     .member = &Network::link_bytes_per_s,
     .least = kBandwidthLeast,
     .most = kUnlimited,
     .meaning = "bandwidth of a link between two switches, in each direction"},
    {.name = "injection_bytes_per_s",
     .member = &Network::injection_bytes_per_s,
     .least = kBandwidthLeast,
     .most = kUnlimited,
     .meaning = "bandwidth of a node's port for sending"},
    {.name = "ejection_bytes_per_s",
     .member = &Network::ejection_bytes_per_s,
     .least = kBandwidthLeast,
     .most = kUnlimited,
     .meaning = "bandwidth of a node's port for receiving"},
    {.name = "latency_ns",
     .member = &Network::latency_ns,
     .most = kTimeMost,
     .meaning = "fixed time of a message in the network"},
    {.name = "hop_ns",
     .member = &Network::hop_ns,
     .most = kTimeMost,
     .meaning = "further time for each link between two switches that a message crosses"},
    {.name = "send_overhead_ns",
     .member = &Network::send_overhead_ns,
     .most = kTimeMost,
     .meaning = "processor time of a message's sender"},
    {.name = "receive_overhead_ns",
     .member = &Network::receive_overhead_ns,
     .most = kTimeMost,
     .meaning = "processor time of a message's receiver"},
    {.name = "poll_ns",
     .member = &Network::poll_ns,
     .most = kTimeMost,
     .meaning = "processor time of each test for an arrived message"},
    {.name = "short_limit",
     .member = &Network::short_limit,
     .most = 1U << 30,
     .fallback = "0",
     .meaning = "longest body in bytes that travels with its header; 0: the library's own limit"},
}};

std::string list_of(std::span<const std::string_view> names) {
  return fmt::format("one of {}", fmt::join(names, ", "));
}

// The values of a member of this type within the bounds.
template <typename Value>
std::string allowed(double least, double most) {
  if constexpr (std::is_same_v<Value, std::string>) {
    return "a text that is not empty";
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    return "a list of at least one text, none of them empty";
  } else if constexpr (std::is_same_v<Value, std::vector<std::uint32_t>>) {
    return fmt::format("a list of whole numbers from {:.0f} to {:.0f}", least, most);
  } else if constexpr (std::is_same_v<Value, bool>) {
    return "true or false";
  } else if constexpr (std::is_same_v<Value, double>) {
    return std::isinf(most) ? fmt::format("a number from {}, or inf for no limit", least)
                            : fmt::format("a number from {} to {}", least, most);
  } else if constexpr (std::is_enum_v<Value>) {
    return list_of(value_names(Value{}));
  } else {
    return fmt::format("a whole number from {:.0f} to {:.0f}", least, most);
  }
}

template <typename Object>
std::string allowed_of(const Field<Object>& field) {
  return std::visit([&]<typename Value>(Value Object::*const) { return allowed<Value>(field.least, field.most); },
                    field.member);
}

}  // namespace

std::span<const Field<Machine>> machine_fields() {
  return kMachineFields;
}

std::span<const Field<Network>> network_fields() {
  return kNetworkFields;
}

std::string allowed_values(const Field<Machine>& field) {
  return allowed_of(field);
}

std::string allowed_values(const Field<Network>& field) {
  return allowed_of(field);
}

std::span<const std::string_view> value_names(Topology) {
  return kTopologies;
}

std::span<const std::string_view> value_names(Placement) {
  return kPlacements;
}

std::span<const std::string_view> value_names(Reach) {
  return kReaches;
}

}  // namespace margay::virtual_machine
