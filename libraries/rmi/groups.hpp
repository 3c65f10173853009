// The groups of nodes (paper, 5: subsets "via a scheme similar to MPI communicators") of which this node is a member.
// A group has the same number on all of its members. Numbers only grow, so that a message for a group that was freed
// finds none, instead of another one.
//
// Members agree on a number without a common counter: each member of the parent sends the least number that is free on
// it, and all take the greatest one. The groups of one split have that number and the next ones, in the order of
// colors.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libraries/rmi/fence.hpp"
#include "libraries/rmi/tree.hpp"
#include "libraries/rmi/wire.hpp"
#include "margay/rmi/node.hpp"

namespace margay::rmi::core {

// One group. Its address is stable until it is freed. Fields are constant, except the count of collections and the
// fence.
struct Group {
  // `own_place`: this node's, in `nodes`. `rank` and `wire` outlive it.
  Group(host::Rank& rank, Wire& wire, Rule rule, std::uint32_t number, std::vector<std::uint32_t> nodes,
        std::uint32_t own_place)
      : members(std::move(nodes)), place(own_place), fence(rank, wire, rule, number, members, place) {
    const auto size = static_cast<std::uint32_t>(members.size());
    for (const std::uint32_t child : children_of(Tree::hypercube, place, size)) children.push_back(members[child]);
    if (place != 0) parent = members[parent_of(Tree::hypercube, place)];
  }

  // Nodes, by their places; and this node's place.
  const std::vector<std::uint32_t> members;
  const std::uint32_t place;
  // In the tree of collections, as nodes; the root, place 0, has no parent.
  std::vector<std::uint32_t> children;
  std::uint32_t parent = kNoNode;
  // Collections begun: equal on all members, because collections are collective. Part of a collection's number.
  std::uint64_t collects = 0;
  // Has a copy of the members, so it is constructed after them.
  Fence fence;
};

// The groups of one node. Used inside, unless the node has one thread.
class Groups {
 public:
  // Adds the group of all nodes, number 0.
  Groups(host::Rank& rank, Wire& wire, Rule rule);

  // A group of this node. Throws `error` if there is none of this number: it was freed.
  [[nodiscard]] Group& find(const char* call, std::uint32_t number);
  // The same, or nullptr.
  [[nodiscard]] Group* find_if_any(std::uint32_t number) {
    const auto at = groups_.find(number);
    return at == groups_.end() ? nullptr : at->second.get();
  }
  // All nodes: never freed.
  [[nodiscard]] Group& all() { return *groups_.at(0); }
  // An unknown number is ignored.
  void free(std::uint32_t number) { groups_.erase(number); }

  // What a node asks for: the words of an exchange between all members of the parent.
  struct Request {
    std::uint32_t next = 0;           // the least number that is free on the node
    bool by_list = false;             // otherwise by color and key
    std::int64_t color = 0, key = 0;  // not by_list
    std::vector<int> nodes;           // by_list
  };
  [[nodiscard]] std::uint32_t next() const { return next_; }
  // Makes this node's group out of the requests of all members of `parent`, in the order of places. Returns its number;
  // kNoGroup: the node is in none. Throws the same `error` on all nodes for an invalid request of any.
  [[nodiscard]] std::uint32_t make(const char* call, const Group& parent, const std::vector<Request>& requests);

 private:
  // Adds the group of this number if this node is in it, and returns the number; otherwise kNoGroup.
  std::uint32_t add(std::uint32_t number, std::vector<std::uint32_t> members);

  host::Rank& rank_;
  Wire& wire_;
  const Rule rule_;
  // By number. A pointer, because fences and views refer to their group.
  std::map<std::uint32_t, std::unique_ptr<Group>> groups_;
  std::uint32_t next_ = 1;
};

}  // namespace margay::rmi::core
