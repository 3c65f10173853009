// Cases of groups of nodes: rmi_groups CASE...
#include <margay/rmi.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "cases.hpp"

namespace rmi = margay::rmi;

namespace {

using cases::need, cases::need_error;
using rmi::async_rmi, rmi::broadcast_rmi, rmi::collect_rmi, rmi::get_node_id, rmi::get_num_nodes, rmi::rmi_fence,
    rmi::rmi_group, rmi::rmi_object, rmi::sync_rmi;

std::vector<int> all_nodes() {
  std::vector<int> nodes(static_cast<std::size_t>(get_num_nodes()));
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

// Checks that the group's members are these nodes, in this order.
void need_members(const rmi_group& group, const std::vector<int>& nodes) {
  const auto at = std::find(nodes.begin(), nodes.end(), get_node_id());
  need(group.is_member() == (at != nodes.end()), "membership");
  if (!group.is_member()) return;
  need(group.size() == static_cast<int>(nodes.size()), "the size of the group");
  need(group.index() == static_cast<int>(at - nodes.begin()), "the index of this node");
  for (int index = 0; index < group.size(); ++index) {
    const int node = nodes[static_cast<std::size_t>(index)];
    need(group.node(index) == node && group.index_of(node) == index, "translation of indices and nodes");
  }
  for (int node = -1; node <= get_num_nodes(); ++node) {
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end())
      need(group.index_of(node) == -1, "the index of another node");
  }
}

// Groups by lists, nested; by colors and keys; of one node; of all.
void creation() {
  const rmi_group all;
  const std::vector<int> nodes = all_nodes();
  need_members(all, nodes);
  const std::vector<int> reversed(nodes.rbegin(), nodes.rend());
  const rmi_group backwards(all, reversed);
  need_members(backwards, reversed);
  const std::vector<int> half(nodes.begin(), nodes.begin() + (get_num_nodes() + 1) / 2);
  const rmi_group lower(all, half);
  need_members(lower, half);
  // A group of a group, by its members only.
  if (lower.is_member()) need_members(rmi_group(lower, std::vector{0}), {0});
  const rmi_group alone = rmi_group::split(all, get_node_id(), 0);
  need_members(alone, {get_node_id()});
  // Odd and even numbers, backwards; node 0 in none.
  const int me = get_node_id(), color = me == 0 ? -1 : me % 2;
  std::vector<int> expected;
  for (const int node : reversed) {
    if (node != 0 && node % 2 == color) expected.push_back(node);
  }
  const rmi_group parity = rmi_group::split(all, color, -me);
  need_members(parity, color < 0 ? std::vector<int>() : expected);
  // Equal keys: the order of the parent.
  need_members(rmi_group::split(backwards, 0, 7), reversed);
  rmi_group moved = rmi_group::split(all, 0, me);
  const rmi_group target(std::move(moved));
  need_members(target, nodes);
}

struct Member {
  std::mt19937 random{static_cast<unsigned>(get_node_id()) + 1};
  long total = 0;
  void add(int x) { total += x; }
  long get() const { return total; }
  void name(const int& /*nothing*/, std::string& part) { part = std::to_string(get_node_id()) + " "; }
  void fail_on(const int& node, int& /*part*/) {
    if (node == get_node_id()) throw std::runtime_error("no part");
  }
  void refuse() { throw std::runtime_error("refused"); }
  // Sends on to random members.
  void pass(const std::vector<int>& members, int depth) {
    ++total;
    if (depth == 0) return;
    for (int i = 0; i < 2; ++i) async_rmi(members[random() % members.size()], this, &Member::pass, members, depth - 1);
  }
};

// A window of three nodes beginning at each node: each node is in up to three groups.
std::vector<std::vector<int>> windows() {
  const int nodes = get_num_nodes();
  std::vector<std::vector<int>> lists;
  for (int first = 0; first < nodes; ++first) {
    std::vector<int>& list = lists.emplace_back();
    for (int i = 0; i < std::min(3, nodes); ++i) list.push_back((first + i) % nodes);
  }
  return lists;
}

// Broadcasts and collections in overlapping groups, at the same time as in the group of all.
void overlap() {
  Member member;
  const rmi_object<Member> handle(member);
  const rmi_group all;
  const std::vector<std::vector<int>> lists = windows();
  std::vector<rmi_group> groups;
  for (const std::vector<int>& list : lists) groups.emplace_back(all, list);
  long expected = 0;
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (!groups[i].is_member()) continue;
      broadcast_rmi(groups[i], &member, &Member::add, static_cast<int>(i) + 1);
      expected += groups[i].size() * (static_cast<long>(i) + 1);
      std::string names, in_order;
      for (const int node : lists[i]) in_order += std::to_string(node) + " ";
      collect_rmi(groups[i], &member, &Member::name, 0, names);
      need(names == in_order, "parts in the order of indices, not " + names);
      int nothing = 0;
      need_error("node " + std::to_string(lists[i].back()) + ": no part",
                 [&] { collect_rmi(groups[i], &member, &Member::fail_on, lists[i].back(), nothing); });
      rmi_fence(groups[i]);
    }
    broadcast_rmi(&member, &Member::add, 1);
    expected += get_num_nodes();
    rmi_fence();
    need(member.total == expected, "each member executes each broadcast once");
    // The next round begins after all nodes have checked.
    rmi_fence();
  }
}

// The fence of a group waits for chains of requests between its members, and not for a node outside the group.
void fences() {
  Member member;
  const rmi_object<Member> handle(member);
  const rmi_group all;
  const int nodes = get_num_nodes(), me = get_node_id();
  // The last node alone, if there are several: it does nothing until the others are done.
  const int color = nodes > 1 && me == nodes - 1 ? 1 : 0;
  const rmi_group group = rmi_group::split(all, color, 0);
  std::vector<int> members;
  for (int index = 0; index < group.size(); ++index) members.push_back(group.node(index));
  if (color == 1) {
    while (sync_rmi(me, &member, &Member::get) == 0) rmi::rmi_poll();
    rmi_fence();
    return;
  }
  long expected = 0;
  for (int round = 0; round < 30; ++round) {
    const int depth = round % 6;
    if (group.index() == round % group.size()) async_rmi(members.back(), &member, &Member::pass, members, depth);
    expected += (2L << depth) - 1;
    rmi_fence(group);
    long total = 0;
    collect_rmi(
        group, &member, [](Member& of, const int&, long& part) { part = of.total; }, 0, total);
    need(total == expected, "the fence of round " + std::to_string(round) + " has waited for " +
                                std::to_string(expected) + " methods, not " + std::to_string(total));
    // No node sends its next requests before all have checked.
    rmi_fence(group);
  }
  async_rmi(members[0], &member, &Member::refuse);
  need_error("refused", [&] { rmi_fence(group); });
  if (nodes > 1 && group.index() == 0) async_rmi(nodes - 1, &member, &Member::add, 1);
  rmi_fence();
}

void errors() {
  Member member;
  const rmi_object<Member> handle(member);
  const rmi_group all;
  const int nodes = get_num_nodes(), me = get_node_id();
  const auto make = [&](const std::vector<int>& list) { const rmi_group group(all, list); };
  need_error("empty", [&] { make({}); });
  need_error("node 0 is in the list twice", [&] { make({0, 0}); });
  need_error("not a member of the parent", [&] { make({nodes}); });
  need_error("not a member of the parent", [&] { make({-1}); });
  if (nodes > 1) {
    need_error("different groups", [&] { make({me == 0 ? 0 : 1}); });
    need_error("different groups", [&] {
      if (me == 0)
        make({0});
      else
        static_cast<void>(rmi_group::split(all, 0, 0));
    });
  }
  rmi_group first(all, std::vector{0});
  int nothing = 0;
  if (me == 0) {
    need_error("invalid index 1", [&] { static_cast<void>(first.node(1)); });
    need_error("not a member of the parent", [&] { const rmi_group other(first, std::vector{1}); });
    first.free();
  }
  need(!first.is_member(), "an empty group");
  for (int turn = 0; turn < 2; ++turn) {
    need_error("not a member", [&] { static_cast<void>(first.size()); });
    need_error("not a member", [&] { static_cast<void>(first.index()); });
    need_error("not a member", [&] { first.free(); });
    need_error("not a member", [&] { broadcast_rmi(first, &member, &Member::add, 1); });
    need_error("not a member", [&] { collect_rmi(first, &member, &Member::fail_on, 0, nothing); });
    need_error("not a member", [&] { rmi_fence(first); });
    need_error("not a member", [&] { const rmi_group other(first, std::vector{0}); });
  }
  need_error("cannot be freed", [] { rmi_group().free(); });
  // In a method.
  const auto refused = [&](auto&& method) {
    need_error("inside a method", [&] { static_cast<void>(sync_rmi(nodes - 1, &member, method)); });
  };
  refused([](Member&) { return rmi_fence(rmi_group()), 0; });
  refused([](Member&) { return static_cast<void>(rmi_group::split(rmi_group(), 0, 0)), 0; });
  refused([](Member& of) {
    int none = 0;
    return collect_rmi(rmi_group(), &of, &Member::fail_on, -1, none), 0;
  });
  rmi_fence();
}

constexpr cases::Case kCases[] = {{"creation", creation}, {"overlap", overlap}, {"fences", fences}, {"errors", errors}};

}  // namespace

int main(int argc, char** argv) {
  return rmi::run(argc, argv, [](int count, char** words) { return cases::run(count, words, kCases); });
}
