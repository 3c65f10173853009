// The functions of node.hpp about groups.
#include <cstring>
#include <utility>
#include <vector>

#include "libraries/rmi/groups.hpp"
#include "libraries/rmi/node.hpp"

namespace margay::rmi::core {
namespace {

using Words = std::vector<std::uint64_t>;

Words words_of(std::span<const std::byte> bytes) {
  Words words(bytes.size() / sizeof(std::uint64_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint64_t));
  return words;
}

// The words of all members of a group, in the order of their indices. Collective, so it is a barrier, too.
std::vector<Words> exchange(const char* call, std::uint32_t group, const Words& mine) {
  const Collection collection = begin_collect(call, group);
  const GroupView view = view_group(call, group);
  // The index and the number of words before each member's words.
  Words all{view.index, mine.size()};
  all.insert(all.end(), mine.begin(), mine.end());
  for (const std::uint32_t child : collection.children) {
    const Words theirs = words_of(take_part(child, collection.number));
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  if (collection.parent != kNoNode) {
    send_part(collection.parent, collection.number, std::as_bytes(std::span(all)));
    all = words_of(take_part(collection.parent, collection.number));
  }
  for (const std::uint32_t child : collection.children)
    send_part(child, collection.number, std::as_bytes(std::span(all)));
  // The parts must leave although the program may make no further call.
  poll(call);
  std::vector<Words> members(view.nodes.size());
  for (std::size_t at = 0; at + 2 <= all.size();) {
    const std::size_t index = all[at], count = all[at + 1];
    at += 2;
    if (index >= members.size() || count > all.size() - at) fail(std::string(call) + ": damaged part of a collection");
    members[index].assign(all.begin() + static_cast<std::ptrdiff_t>(at),
                          all.begin() + static_cast<std::ptrdiff_t>(at + count));
    at += count;
  }
  return members;
}

// make_group() and split_group().
std::uint32_t make(const char* call, std::uint32_t parent, Groups::Request mine) {
  Node& node = this_node(call);
  {
    const Locked locked(node);
    mine.next = node.groups.next();
  }
  Words words{mine.next, mine.by_list ? 1U : 0U, static_cast<std::uint64_t>(mine.color),
              static_cast<std::uint64_t>(mine.key)};
  for (const int each : mine.nodes) words.push_back(static_cast<std::uint64_t>(each));
  // All members of the parent decide by the same requests, so that none of them needs an answer.
  std::vector<Groups::Request> requests;
  for (const Words& each : exchange(call, parent, words)) {
    if (each.size() < 4) fail(std::string(call) + ": damaged part of a collection");
    Groups::Request request{.next = static_cast<std::uint32_t>(each[0]),
                            .by_list = each[1] != 0,
                            .color = static_cast<std::int64_t>(each[2]),
                            .key = static_cast<std::int64_t>(each[3]),
                            .nodes = {}};
    for (std::size_t i = 4; i < each.size(); ++i) request.nodes.push_back(static_cast<int>(each[i]));
    requests.push_back(std::move(request));
  }
  std::uint32_t group = kNoGroup;
  {
    const Locked locked(node);
    group = node.groups.make(call, node.groups.find(call, parent), requests);
  }
  // No member uses the group before all of them have it.
  static_cast<void>(exchange(call, parent, {}));
  return group;
}

}  // namespace

std::uint32_t make_group(const char* call, std::uint32_t parent, std::span<const int> nodes) {
  return make(call, parent, {.by_list = true, .nodes = {nodes.begin(), nodes.end()}});
}

std::uint32_t split_group(const char* call, std::uint32_t parent, int color, int key) {
  return make(call, parent, {.color = color, .key = key, .nodes = {}});
}

void free_group(std::uint32_t group) noexcept {
  // An rmi_group may end after stop().
  if (here == nullptr) return;
  Node& node = *here->node;
  const Locked locked(node);
  node.groups.free(group);
}

GroupView view_group(const char* call, std::uint32_t number) {
  Node& node = this_node(call);
  const Locked locked(node);
  const Group& group = node.groups.find(call, number);
  return {group.members, group.index};
}

}  // namespace margay::rmi::core
