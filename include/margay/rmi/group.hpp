// Groups of nodes (paper, 5): subsets "via a scheme similar to MPI communicators". Part of margay/rmi.hpp.
//
//   const rmi_group all;
//   const rmi_group row = rmi_group::split(all, get_node_id() / width, 0);
//   broadcast_rmi(row, &object, &Class::method, 1);        // from a member to all members
//   rmi_fence(row);
//
// Groups may overlap. Nodes keep their numbers in groups: requests, and lists of members, name them by these. A node's
// index in a group is its number there, from 0: collections combine in the order of indices.
//
// A group that is made is local data of its members. Its fence waits only for requests of members to members, so that
// groups without a common member are independent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "margay/rmi/error.hpp"
#include "margay/rmi/node.hpp"

namespace margay::rmi {

// A group of which this node is a member, or an empty one. Movable; used by its node's program only, except for
// broadcasts, which methods may make, too. Lives at most until stop(), except for its destructor.
class rmi_group {
 public:
  // All nodes of the job; a node's index is its number. Local.
  rmi_group() = default;
  // The group of these nodes, whose indices are their positions in the list. Collective over the parent, outside of a
  // method: all of its members pass the same list. Empty on the nodes that are not in it. Throws `error` on all members
  // of the parent if the list is empty, names a node twice or one that is not in the parent, or differs between nodes.
  // `nodes`: by their numbers, not by their indices in the parent.
  //
  // Cost: two collections of the parent, which carry the lists of all its members: the second one makes it certain that
  // all members have the group before any of them uses it.
  rmi_group(const rmi_group& parent, std::span<const int> nodes)
      : number_(core::make_group("rmi_group", parent.number("rmi_group"), nodes)) {}
  // A group of the nodes that pass the same color, in the order of their keys, and of their indices in the parent where
  // keys are equal. Collective over the parent, outside of a method. A negative color makes an empty group. Cost as
  // above; one call makes the groups of all colors.
  [[nodiscard]] static rmi_group split(const rmi_group& parent, int color, int key) {
    constexpr const char* kCall = "rmi_group::split";
    return rmi_group(core::split_group(kCall, parent.number(kCall), color, key));
  }
  // Frees the group on this node. Local. Requires: a fence has ended its broadcasts, because members forward by it.
  ~rmi_group() { release(); }
  // Leaves the other one empty. Not assignable: an assignment would free a group silently.
  rmi_group(rmi_group&& other) noexcept : number_(std::exchange(other.number_, core::kNoGroup)) {}
  rmi_group(const rmi_group&) = delete;
  rmi_group& operator=(const rmi_group&) = delete;
  rmi_group& operator=(rmi_group&&) = delete;
  // The same by name; the group is empty afterwards. The group of all nodes cannot be freed.
  void free() {
    static_cast<void>(number("rmi_group::free"));
    if (number_ == kAll) fail("rmi_group::free: the group of all nodes cannot be freed");
    release();
  }

  // Whether this node is in it. False for an empty group and after free(): all other functions then throw `error`.
  [[nodiscard]] bool is_member() const { return number_ != core::kNoGroup; }
  // The number of members, and this node's index, from 0.
  [[nodiscard]] int size() const { return static_cast<int>(view("rmi_group::size").nodes.size()); }
  [[nodiscard]] int index() const { return static_cast<int>(view("rmi_group::index").index); }
  // Translations: the node of an index, and the index of a node, or -1 if the node is not a member. node() throws
  // `error` for an invalid index. index_of() takes time proportional to the number of members.
  [[nodiscard]] int node(int index) const {
    constexpr const char* kCall = "rmi_group::node";
    const core::GroupView members = view(kCall);
    if (index < 0 || static_cast<std::size_t>(index) >= members.nodes.size()) {
      fail(std::string(kCall) + ": invalid index " + std::to_string(index) + "; valid: 0 to " +
           std::to_string(members.nodes.size() - 1));
    }
    return static_cast<int>(members.nodes[static_cast<std::size_t>(index)]);
  }
  [[nodiscard]] int index_of(int node) const {
    const core::GroupView members = view("rmi_group::index_of");
    const auto at = std::find(members.nodes.begin(), members.nodes.end(), static_cast<std::uint32_t>(node));
    return at == members.nodes.end() ? -1 : static_cast<int>(at - members.nodes.begin());
  }

  // For the calls of RMI: its number, equal on all members. Throws `error` if this node is not a member.
  [[nodiscard]] std::uint32_t number(const char* call) const {
    if (!is_member()) fail(std::string(call) + ": this node is not a member of the group, or the group was freed");
    return number_;
  }

 private:
  // The number of the group of all nodes, which the library makes at start() and which is never freed.
  static constexpr std::uint32_t kAll = 0;
  // Owns the group of this number.
  explicit rmi_group(std::uint32_t number) : number_(number) {}
  void release() {
    if (number_ != kAll && number_ != core::kNoGroup) core::free_group(number_);
    number_ = core::kNoGroup;
  }
  // The members and this node's index, for one call: the library owns them.
  [[nodiscard]] core::GroupView view(const char* call) const { return core::view_group(call, number(call)); }

  // kNoGroup: empty.
  std::uint32_t number_ = kAll;
};

}  // namespace margay::rmi
