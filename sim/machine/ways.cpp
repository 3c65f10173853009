#include "sim/machine/ways.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace margay::sim {

using portals::Status;

namespace {

// All wires, in order of preference.
constexpr std::array kAllWires = [] {
  std::array<WireId, kWireCount> all{};
  for (std::size_t at = 0; at < kWireCount; ++at) all[at] = static_cast<WireId>(at);
  return all;
}();

std::string selectable_names() {
  std::string names;
  for (const WireKind& kind : kWireKinds) {
    if (kind.selectable) names += (names.empty() ? "" : ", ") + std::string(kind.name);
  }
  return names;
}

// The lowest rank of the node of `rank`.
std::uint32_t first_rank(const Job& job, std::uint32_t rank) {
  std::uint32_t first = 0;
  while (job.node_of_rank[first] != job.node_of_rank[rank]) ++first;
  return first;
}

// Whether one of the two ranks, which are on different nodes, is not the first of its node; empty: neither.
std::string not_first(const Job& job, std::uint32_t peer) {
  for (const std::uint32_t rank : {peer, job.rank}) {
    if (first_rank(job, rank) != rank) return "rank " + std::to_string(rank) + " is not the first of its node";
  }
  return {};
}

// why_not() of the two wires between nodes while the job forwards messages.
std::string why_not_forwarding(const Job& job, WireId wire, std::uint32_t peer) {
  std::string reason = not_first(job, peer);
  if (wire == WireId::forward) return reason.empty() ? "both ranks are the first of their nodes" : std::string();
  if (!reason.empty()) reason += ", and --forward node is set";
  return reason;
}

bool has(const std::vector<WireId>& order, WireId wire) {
  return std::ranges::find(order, wire) != order.end();
}

}  // namespace

Status parse_ways(std::string_view list, std::vector<WireId>& out) {
  std::vector<WireId> order;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const std::string word(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    const auto kind =
        std::ranges::find_if(kWireKinds, [&](const WireKind& each) { return each.selectable && each.name == word; });
    if (kind == kWireKinds.end()) {
      return Status::error("--way (MARGAY_WAY): unknown wire \"" + word + "\"; use a list of " + selectable_names());
    }
    const auto wire = static_cast<WireId>(kind - kWireKinds.begin());
    if (has(order, wire)) return Status::error("--way (MARGAY_WAY): the list has " + word + " twice; name it once");
    order.push_back(wire);
  }
  out = std::move(order);
  return {};
}

Status check_forwarding(const Options& options) {
  if (options.text("forward").empty() || options.text("way").empty()) return {};
  return Status::error(
      "--forward (MARGAY_FORWARD) cannot be combined with --way (MARGAY_WAY): forwarding chooses the wires; omit one");
}

bool is_forwarding(const Job& job) {
  return job.node_count > 1 && !job.options.text("forward").empty();
}

std::vector<std::uint32_t> first_ranks(const Job& job) {
  std::vector<std::uint32_t> first;
  std::map<std::uint32_t, std::uint32_t> of_node;
  for (std::uint32_t rank = 0; rank < job.size; ++rank) {
    first.push_back(of_node.try_emplace(job.node_of_rank[rank], rank).first->second);
  }
  return first;
}

std::string why_not(const Job& job, const std::vector<WireId>& order, WireId wire, std::uint32_t peer) {
  const bool same_node = job.node_of_rank[peer] == job.node;
  std::string node = "rank " + std::to_string(peer) + " is on node " + std::to_string(job.node_of_rank[peer]);
  if (peer == job.rank) return wire == WireId::self ? "" : "a rank reaches itself by the wire self";
  switch (kind_of(wire).reach) {
    case Reach::other_job:
      return "it belongs to processes of other jobs";
    case Reach::own_process:
      return "it reaches the own rank only";
    case Reach::own_node:
      if (!same_node) return node;
      if (job.node_segment_fd < 0) return "the node has no shared memory";
      break;
    case Reach::any_node:
      if (wire == WireId::virtual_) return "it belongs to simulated machines";
      if (wire == WireId::forward && !is_forwarding(job)) return "--forward node is not set";
      if (wire == WireId::forward && same_node) return "between nodes only";
      if (order.empty() && same_node) return "inside a node only if --way names it";
      if (is_forwarding(job)) return why_not_forwarding(job, wire, peer);
      break;
  }
  if (!order.empty() && !has(order, wire)) return "--way does not name it";
  return {};
}

std::vector<WireId> applicable_wires(const Job& job, const std::vector<WireId>& order, std::uint32_t peer) {
  std::vector<WireId> wires;
  const auto add = [&](WireId wire) {
    if (why_not(job, order, wire, peer).empty()) wires.push_back(wire);
  };
  if (order.empty() || peer == job.rank) {
    std::ranges::for_each(kAllWires, add);
  } else {
    std::ranges::for_each(order, add);
  }
  return wires;
}

Status check_ways(const Job& job, const std::vector<WireId>& order) {
  for (std::uint32_t peer = 0; peer < job.size; ++peer) {
    if (!applicable_wires(job, order, peer).empty()) continue;
    std::string reasons;
    for (const WireId wire : kAllWires) {
      if (!kind_of(wire).selectable) continue;
      reasons += (reasons.empty() ? "" : "; ") + std::string(name(wire)) + ": " + why_not(job, order, wire, peer);
    }
    return Status::error("rank " + std::to_string(job.rank) + " cannot reach rank " + std::to_string(peer) + " (" +
                         reasons + "); add a wire to --way (MARGAY_WAY)");
  }
  return {};
}

std::vector<WayRow> way_table(const Job& job, const Kernel& kernel, std::uint32_t peer) {
  std::vector<WireId> order;
  static_cast<void>(parse_ways(job.options.text("way"), order));  // tested when the wires were opened
  const WireId usual = kernel.route(peer).id();
  std::vector<WayRow> rows{{usual, kUsualWay, {}}};
  const auto add = [&](WireId wire) {
    if (wire != usual && kernel.route(peer, way_by(wire)) != nullptr) rows.push_back({wire, way_by(wire), {}});
  };
  std::ranges::for_each(order, add);
  for (const WireId wire : kAllWires) {
    if (std::ranges::find(rows, wire, &WayRow::wire) != rows.end()) continue;
    if (kernel.route(peer, way_by(wire)) != nullptr) {
      add(wire);
      continue;
    }
    std::string reason = why_not(job, order, wire, peer);
    rows.push_back({wire, kUsualWay, reason.empty() ? "the process has not opened it" : std::move(reason)});
  }
  return rows;
}

}  // namespace margay::sim
