// The three trees of a fence by messages (paper, 6.5), as functions of a node's number. Node 0 is the root of each.
// Also the tree of collections (Tree::hypercube). Pure functions, without communication.
//
// The paper gives no definition of its tree "optimized for a hypercube". Here it is the binomial tree: each edge joins
// two nodes that differ in one bit. The depth is 1 for flat and about log2(nodes) for the others; the root has nodes -
// 1 children in flat, 2 in binary, and log2(nodes) in hypercube.
//
// The children of the nodes among 8:
//
//   flat        0: 1 to 7
//   binary      0: 1 2   1: 3 4   2: 5 6   3: 7
//   hypercube   0: 1 2 4   2: 3   4: 5 6   6: 7
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "margay/rmi/node.hpp"

namespace margay::rmi::core {

// The parent of a node. Requires: node != 0, and one of the three trees: any other value counts as hypercube, whose
// parent is the node without its lowest bit.
[[nodiscard]] constexpr std::uint32_t parent_of(Tree tree, std::uint32_t node) {
  if (tree == Tree::flat) return 0;
  if (tree == Tree::binary) return (node - 1) / 2;
  return node & (node - 1);
}

// The tree's name, as MARGAY_RMI_FENCE has it.
[[nodiscard]] constexpr const char* name_of(Tree tree) {
  constexpr std::array<const char*, 6> kNames{"flat", "binary", "hypercube", "exchange", "central", "mcs"};
  return kNames[static_cast<std::size_t>(tree)];
}

// The children of a node among `nodes` nodes, in ascending order. In the hypercube tree the nodes below child c are c
// up to the next child, so that results combined in this order are in the order of nodes. Sums have 64 bits, because
// the child of a large node number does not fit 32.
[[nodiscard]] inline std::vector<std::uint32_t> children_of(Tree tree, std::uint32_t node, std::uint32_t nodes) {
  std::vector<std::uint32_t> children;
  if (tree == Tree::flat) {
    for (std::uint32_t child = 1; node == 0 && child < nodes; ++child) children.push_back(child);
  } else if (tree == Tree::binary) {
    for (std::uint64_t child = 2 * std::uint64_t{node} + 1; child < nodes && child <= 2 * std::uint64_t{node} + 2;
         ++child) {
      children.push_back(static_cast<std::uint32_t>(child));
    }
  } else {
    // A child has one more bit, below the node's lowest one.
    for (std::uint64_t bit = 1; (node & bit) == 0 && node + bit < nodes; bit *= 2) {
      children.push_back(static_cast<std::uint32_t>(node + bit));
    }
  }
  return children;
}

// The indices of a group of `size` to which `index` forwards a broadcast of `root`: its children in the hypercube tree,
// counted from the root, the one with the largest part of the tree first. At most log2(size), rounded up.
template <typename Function>
void for_each_forward(std::uint32_t index, std::uint32_t root, std::uint32_t size, Function&& function) {
  const std::uint32_t from_root = (index + size - root) % size;
  std::uint64_t most = 1;
  while (most < size) most *= 2;
  for (std::uint64_t bit = most / 2; bit != 0; bit /= 2) {
    const std::uint64_t child = from_root + bit;
    if ((from_root & (2 * bit - 1)) == 0 && child < size) function(static_cast<std::uint32_t>((child + root) % size));
  }
}

}  // namespace margay::rmi::core
