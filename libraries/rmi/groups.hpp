// The groups of nodes (paper, 5: subsets "via a scheme similar to MPI communicators") of which this node is a member.
// A group has the same number on all of its members.
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

struct Group {
  Group(host::Rank& rank, Wire& wire, Rule rule, std::uint32_t number, std::vector<std::uint32_t> nodes,
        std::uint32_t own_place)
      : members(std::move(nodes)), place(own_place), fence(rank, wire, rule, number, members, place) {
    const auto size = static_cast<std::uint32_t>(members.size());
    for (const std::uint32_t child : children_of(Tree::hypercube, place, size)) children.push_back(members[child]);
    if (place != 0) parent = members[parent_of(Tree::hypercube, place)];
  }

  // Nodes, by their places.
  const std::vector<std::uint32_t> members;
  const std::uint32_t place;
  // In the tree of collections.
  std::vector<std::uint32_t> children;
  std::uint32_t parent = kNoNode;
  // Collections begun.
  std::uint64_t collects = 0;
  Fence fence;
};

// Inside, or the node has one thread.
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
  [[nodiscard]] Group& all() { return *groups_.at(0); }
  void free(std::uint32_t number) { groups_.erase(number); }

  // What a node asks for: the words of an exchange between all members of the parent.
  struct Request {
    std::uint32_t next = 0;  // the least number that is free on the node
    bool by_list = false;
    std::int64_t color = 0, key = 0;  // not by_list
    std::vector<int> nodes;           // by_list
  };
  [[nodiscard]] std::uint32_t next() const { return next_; }
  // Makes this node's group out of the requests of all members of `parent`, in the order of places. Returns its number;
  // kNoGroup: the node is in none. Throws the same `error` on all nodes for an invalid request of any.
  [[nodiscard]] std::uint32_t make(const char* call, const Group& parent, const std::vector<Request>& requests);

 private:
  std::uint32_t add(std::uint32_t number, std::vector<std::uint32_t> members);

  host::Rank& rank_;
  Wire& wire_;
  const Rule rule_;
  std::map<std::uint32_t, std::unique_ptr<Group>> groups_;
  std::uint32_t next_ = 1;
};

}  // namespace margay::rmi::core
