#include "virtual_machine/model/machine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/text.hpp"

namespace margay::virtual_machine {
namespace {

// The largest number of nodes for which all networks have places.
std::uint64_t places_of(const Machine& machine) {
  std::uint64_t least = kNodesMost;
  for (const Network& network : machine.networks) {
    if (const std::uint64_t places = places_of(network); places != 0) least = std::min(least, places);
  }
  return least;
}

std::uint64_t nodes_needed(const Machine& machine, std::uint32_t ranks) {
  return (std::uint64_t{ranks} + machine.processors_per_node - 1) / machine.processors_per_node;
}

}  // namespace

std::uint64_t places_of(const Network& network) {
  std::uint64_t places = network.shape.empty() ? 0 : network.nodes_per_switch;
  for (const std::uint32_t extent : network.shape) {
    if (extent == 0) return 0;
    // Stops above the bound, so that the product cannot overflow.
    if (places <= kNodesMost) places *= extent;
  }
  return places;
}

std::uint32_t nodes_for(const Machine& machine, std::uint32_t ranks) {
  return machine.nodes != 0 ? machine.nodes : static_cast<std::uint32_t>(nodes_needed(machine, ranks));
}

portals::Status check_ranks(const Machine& machine, std::uint32_t ranks) {
  if (ranks == 0) return portals::Status::error("invalid number of ranks 0; use at least 1");
  const std::uint64_t places = places_of(machine);
  // A machine that grows with its ranks still has only the places of its shapes.
  const std::uint64_t nodes = machine.nodes == 0 ? places : machine.nodes;
  if (nodes > places) {
    return portals::Status::error(fmt::format(
        "machine {}: a network's shape has places for {} of its {} nodes; enlarge the shape, or lower nodes",
        sim::one_line(machine.name), places, nodes));
  }
  if (nodes_needed(machine, ranks) <= nodes) return {};
  return portals::Status::error(fmt::format(
      "machine {} has {} of {}, too few for {}; start fewer ranks, or copy its file (margay machines NAME --toml) "
      "and raise nodes or shape",
      sim::one_line(machine.name), sim::counted(nodes, "node"), sim::counted(machine.processors_per_node, "processor"),
      sim::counted(ranks, "rank")));
}

}  // namespace margay::virtual_machine
