#include "virtual_machine/model/way_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/text.hpp"

namespace margay::virtual_machine {

using portals::Status;
using sim::WireId;

namespace {

// The number of the network between nodes.
constexpr std::size_t network_number(WireId wire) {
  return wire == WireId::tcp ? 1 : 0;
}

Status find_wire(std::string_view word, WireId& out) {
  for (const WireId wire : {WireId::shm, WireId::tcp}) {
    if (word != sim::name(wire)) continue;
    out = wire;
    return {};
  }
  return Status::error(fmt::format(
      "way: unknown wire \"{}\": use shm (the machine's first network), tcp (its second one), or both, as shm,tcp",
      sim::one_line(word)));
}

}  // namespace

std::optional<std::uint32_t> WayPlan::network(WireId wire, const NetworkModel& model, std::uint32_t from,
                                              std::uint32_t to) {
  const std::uint32_t from_node = model.node_of(from);
  const std::uint32_t to_node = model.node_of(to);
  if (wire == WireId::shm && from_node == to_node) return kInMemory;
  const auto number = static_cast<std::uint32_t>(network_number(wire));
  const bool is_inside = model.partition_of(from_node) == model.partition_of(to_node);
  if (model.machine().networks[number].applies == Reach::partition && !is_inside) return std::nullopt;
  return number;
}

Status WayPlan::make(std::string_view list, const Machine& machine, std::uint32_t ranks, WayPlan& out) {
  WayPlan plan;
  for (bool more = !list.empty(); more;) {
    const std::size_t end = std::min(list.find(','), list.size());
    more = end < list.size();
    WireId wire{};
    if (Status status = find_wire(list.substr(0, end), wire); !status.ok()) return status;
    if (std::ranges::find(plan.order_, wire) != plan.order_.end()) {
      return Status::error(fmt::format("way: the list has {} twice; name it once", sim::name(wire)));
    }
    if (network_number(wire) >= machine.networks.size()) {
      return Status::error(fmt::format(
          "way: machine {} has one network, for which shm stands; choose a machine with two for {}, such as sp2",
          sim::one_line(machine.name), sim::name(wire)));
    }
    plan.order_.push_back(wire);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  if (!plan.empty()) {
    const NetworkModel model(machine, ranks);
    // Partitions have consecutive nodes, and rank 0 is in the first one: if it reaches all others, each pair is joined.
    for (std::uint32_t rank = 1; rank < ranks; ++rank) {
      if (std::ranges::any_of(plan.order_, [&](WireId wire) { return network(wire, model, 0, rank).has_value(); }))
        continue;
      return Status::error(
          fmt::format("way: none of the wires joins ranks 0 and {}, which are in two partitions; add another wire to the "
                      "list, or change nodes_per_partition",
                      rank));
    }
  }
  out = std::move(plan);
  return {};
}

std::string way_list(const std::vector<Change>& changes) {
  const auto found = std::find_if(changes.rbegin(), changes.rend(),
                                  [](const Change& change) { return change.name == kWayOption; });
  return found == changes.rend() ? std::string() : found->value;
}

}  // namespace margay::virtual_machine
