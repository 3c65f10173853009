#include "libraries/rmi/tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "libraries/rmi/fence.hpp"

namespace {

using namespace margay::rmi;
using namespace margay::rmi::core;

using Nodes = std::vector<std::uint32_t>;

TEST_CASE("each tree of a fence has its children") {
  struct Row {
    Tree tree;
    std::uint32_t node, nodes;
    Nodes children;
  };
  const Row rows[] = {
      {Tree::flat, 0, 1, {}},
      {Tree::flat, 0, 5, {1, 2, 3, 4}},
      {Tree::flat, 2, 5, {}},
      // The paper's: 0 has 1 and 2, 1 has 3 and 4.
      {Tree::binary, 0, 5, {1, 2}},
      {Tree::binary, 1, 5, {3, 4}},
      {Tree::binary, 1, 4, {3}},
      {Tree::binary, 2, 5, {}},
      {Tree::hypercube, 0, 8, {1, 2, 4}},
      {Tree::hypercube, 0, 6, {1, 2, 4}},
      {Tree::hypercube, 4, 8, {5, 6}},
      {Tree::hypercube, 4, 6, {5}},
      {Tree::hypercube, 6, 8, {7}},
      {Tree::hypercube, 7, 8, {}},
  };
  for (const Row& row : rows) {
    CAPTURE(static_cast<int>(row.tree));
    CAPTURE(row.node);
    CAPTURE(row.nodes);
    CHECK(children_of(row.tree, row.node, row.nodes) == row.children);
  }
}

TEST_CASE("a broadcast reaches each index but its root's once") {
  for (std::uint32_t size = 1; size < 20; ++size) {
    for (std::uint32_t root = 0; root < size; ++root) {
      Nodes seen{root};
      for (std::uint32_t index = 0; index < size; ++index)
        for_each_forward(index, root, size, [&](std::uint32_t below) { seen.push_back(below); });
      std::ranges::sort(seen);
      REQUIRE(seen.size() == size);
      for (std::uint32_t i = 0; i < size; ++i) CHECK(seen[i] == i);
    }
  }
}

TEST_CASE("each node but the root is one child, of its parent") {
  for (const Tree tree : {Tree::flat, Tree::binary, Tree::hypercube}) {
    for (std::uint32_t nodes = 1; nodes < 70; ++nodes) {
      Nodes seen;
      for (std::uint32_t node = 0; node < nodes; ++node) {
        for (const std::uint32_t child : children_of(tree, node, nodes)) {
          CHECK(parent_of(tree, child) == node);
          seen.push_back(child);
        }
      }
      std::ranges::sort(seen);
      REQUIRE(seen.size() == nodes - 1);
      for (std::uint32_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == i + 1);
    }
  }
}

TEST_CASE("a fence ends by the rule of waves") {
  Decision one_wave;
  CHECK(one_wave.ends(1, {.sent = 7, .executed = 7, .executed_ever = 90}));
  // D.3: the counts of all requests agree while one is in transit; those of the fence's parity differ.
  Decision more;
  CHECK(!more.ends(1, {.sent = 1, .executed = 0, .executed_ever = 50}));
  // The counts agree, but differ from those of the wave before, so a request may have been in transit.
  CHECK(!more.ends(2, {.sent = 53, .executed = 52, .executed_ever = 52}));
  CHECK(!more.ends(3, {.sent = 53, .executed = 53, .executed_ever = 53}));
  CHECK(more.ends(4, {.sent = 53, .executed = 53, .executed_ever = 53}));
  // The paper's rule needs one wave in which the counts agree, although a later request may not be counted.
  Decision paper(Rule::paper);
  CHECK(!paper.ends(1, {.sent = 53, .executed = 52, .executed_ever = 52}));
  CHECK(paper.ends(2, {.sent = 53, .executed = 53, .executed_ever = 53}));
  // A group's first wave sums requests of all parities, which may be those of a method that ran after an arrival.
  Decision of_group(Rule::safe, false);
  CHECK(!of_group.ends(1, {.sent = 53, .executed = 53, .executed_ever = 53}));
  CHECK(of_group.ends(2, {.sent = 53, .executed = 53, .executed_ever = 53}));
}

}  // namespace
