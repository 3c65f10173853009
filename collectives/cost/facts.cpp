#include "collectives/cost/facts.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_map>

namespace margay::collectives {

namespace {

std::optional<Method> method_of(char letter) {
  switch (letter) {
    case 's':
      return Method::brief;
    case 'l':
      return Method::slices;
    case 'b':
      return Method::bucket;
    default:
      return std::nullopt;
  }
}

// Parses one dimension, up to an x or the end, and removes it from `text`.
bool take_dimension(std::string_view& text, RequestedPlan::Dimension& out) {
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, out.length);
  if (error != std::errc() || out.length < 1) return false;
  text.remove_prefix(static_cast<std::size_t>(behind - text.data()));
  if (!text.empty() && text[0] != 'x') {
    out.method = method_of(text[0]);
    if (!out.method) return false;
    text.remove_prefix(1);
  }
  return true;
}

// Up to kMaxDimensions dimensions; text that is left makes the plan invalid.
bool take_plan(std::string_view text, RequestedPlan& out) {
  for (RequestedPlan::Dimension& dimension : out.dimensions) {
    if (!take_dimension(text, dimension)) return false;
    if (text.empty()) return true;
    if (text[0] != 'x') return false;
    text.remove_prefix(1);
  }
  return false;
}

}  // namespace

portals::Status parse_plan(std::string_view text, RequestedPlan& out) {
  out = {};
  if (take_plan(text, out)) return {};
  out = {};
  return portals::Status::error("a plan has up to " + std::to_string(HybridPlan::kMaxDimensions) +
                                " lengths, such as 2x4, those of a node's ranks first; s (short), l (long) or b "
                                "(long, by bucket) may follow each");
}

std::optional<HybridPlan> complete_plan(const RequestedPlan& asked, int ranks, int nodes, int on_node) {
  HybridPlan plan;
  if (!asked.has_lengths()) {
    plan.dimensions[0].length = on_node;
    plan.dimensions[1].length = nodes;
  } else {
    for (std::size_t at = 0; at < plan.dimensions.size() && asked.dimensions[at].length != 0; ++at) {
      // Checked first, so that the product of lengths cannot overflow.
      if (asked.dimensions[at].length > ranks) return std::nullopt;
      plan.dimensions[at] = {asked.dimensions[at].length, asked.dimensions[at].method.value_or(Method::slices)};
      if (plan.ranks() > ranks) return std::nullopt;
    }
  }
  if (plan.ranks() != ranks) return std::nullopt;
  return plan;
}

namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, kOperationCount> kOperationNames{
    "barrier",        "bcast", "reduce", "allreduce",          "gather",           "allgather", "scatter", "alltoall",
    "reduce_scatter", "scan",  "exscan", "neighbor_allgather", "neighbor_alltoall"};

}  // namespace

std::string_view name(Operation operation) {
  return kOperationNames[static_cast<std::size_t>(operation)];
}

Facts facts_of_nodes(std::span<const std::uint32_t> nodes) {
  std::unordered_map<std::uint32_t, int> members;
  for (const std::uint32_t node : nodes) ++members[node];
  Facts facts;
  facts.ranks = static_cast<int>(nodes.size());
  facts.nodes = static_cast<int>(members.size());
  for (const auto& [node, count] : members) facts.most_on_node = std::max(facts.most_on_node, count);
  facts.on_first_node = members[nodes.front()];
  facts.even = facts.most_on_node * facts.nodes == facts.ranks;
  facts.crossings = crossings_of(nodes);
  // If the ranks of each node are consecutive, there is one border less than there are nodes.
  int borders = 0;
  for (std::size_t rank = 1; rank < nodes.size(); ++rank) borders += nodes[rank] != nodes[rank - 1] ? 1 : 0;
  facts.by_node = borders == facts.nodes - 1;
  return facts;
}

}  // namespace margay::collectives
