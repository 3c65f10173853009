#include "collectives/cost/facts.hpp"

#include <algorithm>
#include <unordered_map>

namespace margay::collectives {

namespace {

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
  int borders = 0;
  for (std::size_t rank = 1; rank < nodes.size(); ++rank) borders += nodes[rank] != nodes[rank - 1] ? 1 : 0;
  facts.by_node = borders == facts.nodes - 1;
  return facts;
}

}  // namespace margay::collectives
