#include "libraries/rmi/groups.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "margay/rmi/error.hpp"

namespace margay::rmi::core {
namespace {

// Throws `error` for a list that is no group of members of `parent`.
void check_list(const char* call, const Group& parent, const std::vector<int>& nodes) {
  const std::string name = std::string(call) + ": ";
  if (nodes.empty()) fail(name + "the list of nodes is empty; name at least one");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string node = "node " + std::to_string(nodes[i]);
    if (nodes[i] < 0 || std::ranges::find(parent.members, static_cast<std::uint32_t>(nodes[i])) == parent.members.end())
      fail(name + node + " is not a member of the parent group");
    if (std::find(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(i), nodes[i]) !=
        nodes.begin() + static_cast<std::ptrdiff_t>(i))
      fail(name + node + " is in the list twice");
  }
}

}  // namespace

Groups::Groups(host::Rank& rank, Wire& wire, Rule rule) : rank_(rank), wire_(wire), rule_(rule) {
  std::vector<std::uint32_t> all(rank.size());
  std::iota(all.begin(), all.end(), 0U);
  static_cast<void>(add(0, std::move(all)));
}

Group& Groups::find(const char* call, std::uint32_t number) {
  Group* const found = find_if_any(number);
  if (found == nullptr) fail(std::string(call) + ": the group was freed on this node");
  return *found;
}

std::uint32_t Groups::add(std::uint32_t number, std::vector<std::uint32_t> members) {
  const auto at = std::ranges::find(members, rank_.rank());
  if (at == members.end()) return kNoGroup;
  const auto index = static_cast<std::uint32_t>(at - members.begin());
  groups_[number] = std::make_unique<Group>(rank_, wire_, rule_, number, std::move(members), index);
  return number;
}

std::uint32_t Groups::make(const char* call, const Group& parent, const std::vector<Request>& requests) {
  const Request& first = requests.front();
  std::uint32_t next = 0;
  // A number that is free on all members of the parent is free on all members of the group.
  for (const Request& each : requests) next = std::max(next, each.next);
  for (std::size_t index = 0; index < requests.size(); ++index) {
    const Request& each = requests[index];
    if (each.by_list != first.by_list || each.nodes != first.nodes) {
      fail(std::string(call) + ": nodes " + std::to_string(parent.members[0]) + " and " +
           std::to_string(parent.members[index]) +
           " ask for different groups; all members of the parent pass one list");
    }
  }
  if (first.by_list) {
    // The lists are equal, so that all nodes throw the same error.
    check_list(call, parent, first.nodes);
    next_ = next + 1;
    return add(next, {first.nodes.begin(), first.nodes.end()});
  }
  // All members compute the groups of all colors, so that the numbers agree.
  std::map<std::int64_t, std::vector<std::size_t>> colors;
  for (std::size_t index = 0; index < requests.size(); ++index) {
    if (requests[index].color >= 0) colors[requests[index].color].push_back(index);
  }
  next_ = next + static_cast<std::uint32_t>(colors.size());
  const std::int64_t mine = requests[parent.index].color;
  if (mine < 0) return kNoGroup;
  std::vector<std::size_t>& indices = colors[mine];
  // Stable: equal keys keep the order of indices.
  std::ranges::stable_sort(indices, {}, [&](std::size_t index) { return requests[index].key; });
  std::vector<std::uint32_t> members;
  for (const std::size_t index : indices) members.push_back(parent.members[index]);
  return add(next + static_cast<std::uint32_t>(std::distance(colors.begin(), colors.find(mine))), std::move(members));
}

}  // namespace margay::rmi::core
