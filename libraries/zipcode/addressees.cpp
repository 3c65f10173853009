#include "libraries/zipcode/addressees.hpp"

#include <algorithm>
#include <string>

#include "libraries/zipcode/error.hpp"

namespace margay::zipcode::core {

Group make_cohort(const Nodes& nodes, std::uint32_t caller, int count, int node_bias, int pid, bool with_caller) {
  if (count < 0 || (count == 0 && !with_caller))
    fail("a cohort of " + std::to_string(count) + " processes; use a positive number");
  const int caller_node = nodes.node_of(caller);
  const bool is_left_out = with_caller && caller_node >= 0;
  const int most = nodes.count_for(caller, with_caller);
  if (count > most) {
    fail("a cohort of " + std::to_string(count) + " processes, but the job has " + std::to_string(most) +
         " nodes for it; start more processes (margay run -n)");
  }
  if (node_bias < 0) fail("node_bias " + std::to_string(node_bias) + " is negative; use COHORT_FIRST_NODE");
  Group group;
  if (with_caller) group.push_back({caller, pid});
  const int all = std::max(nodes.count(), 1);
  for (int node = node_bias % all, made = 0; made < count; node = (node + 1) % all) {
    if (is_left_out && node == caller_node) continue;
    group.push_back({*nodes.rank_of(node), pid});
    ++made;
  }
  return group;
}

Group make_group(const Nodes& nodes, int count, const Zip_process* processes) {
  if (count < 1 || processes == nullptr) fail("a group needs a process");
  Group group;
  for (int i = 0; i < count; ++i) {
    const std::optional<std::uint32_t> rank = nodes.rank_of(processes[i].node);
    if (!rank.has_value()) {
      fail("process " + std::to_string(i) + " is on node " + std::to_string(processes[i].node) +
           ", but the job has the nodes 0 to " + std::to_string(nodes.count() - 1));
    }
    if (index_of(group, *rank) >= 0)
      fail("node " + std::to_string(processes[i].node) + " is named twice; a node has one process");
    group.push_back({*rank, processes[i].pid});
  }
  return group;
}

namespace {

void check_ranks(const Group& group, int count, const int* ranks) {
  if (count < 0 || (ranks == nullptr && count != 0)) fail("the ranks are NULL");
  for (int i = 0; i < count; ++i) {
    if (ranks[i] < 0 || ranks[i] >= static_cast<int>(group.size())) {
      fail("the group has no rank " + std::to_string(ranks[i]) + "; its ranks are 0 to " +
           std::to_string(group.size() - 1));
    }
    if (std::find(ranks, ranks + i, ranks[i]) != ranks + i)
      fail("rank " + std::to_string(ranks[i]) + " is named twice; name each rank once");
  }
}

}  // namespace

Group include(const Group& group, int count, const int* ranks) {
  check_ranks(group, count, ranks);
  if (count == 0) fail("the group would be empty; a group has at least one process");
  Group made;
  for (int i = 0; i < count; ++i) made.push_back(group[static_cast<std::size_t>(ranks[i])]);
  return made;
}

Group exclude(const Group& group, int count, const int* ranks) {
  check_ranks(group, count, ranks);
  Group made;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (std::find(ranks, ranks + count, static_cast<int>(i)) == ranks + count) made.push_back(group[i]);
  }
  if (made.empty()) fail("the group would be empty; a group has at least one process");
  return made;
}

Group unite(const Group& first, const Group& second) {
  Group made = first;
  for (const Member& each : second) {
    const bool is_in_first = std::ranges::any_of(
        first, [&each](const Member& other) { return other.rank == each.rank && other.is_empty == each.is_empty; });
    if (!is_in_first) made.push_back(each);
  }
  return made;
}

int index_of(const Group& group, std::uint32_t rank) {
  const auto at = std::ranges::find(group, rank, &Member::rank);
  return at == group.end() ? -1 : static_cast<int>(at - group.begin());
}

}  // namespace margay::zipcode::core
