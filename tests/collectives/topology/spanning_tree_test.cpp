// Tests of the minimum spanning tree's arithmetic: every rank is reached once, subtrees are ranges, the depth is
// logarithmic.
#include "collectives/topology/members.hpp"

#include <bit>
#include <vector>

#include <doctest/doctest.h>

namespace margay::collectives {
namespace {

int depth_of(int size, int root, int rank) {
  int depth = 0;
  for (int at = rank; at != root; ++depth) {
    at = spanning_tree(size, root, at).parent;
    REQUIRE(at >= 0);
    REQUIRE(depth < size);
  }
  return depth;
}

}  // namespace

TEST_CASE("a lone rank is its own tree") {
  const TreePosition position = spanning_tree(1, 0, 0);
  CHECK(position.parent == -1);
  CHECK(position.children.empty());
  CHECK(position.first == 0);
  CHECK(position.last == 0);
}

TEST_CASE("parents and children agree, for every size to 33 and every root") {
  for (int size = 1; size <= 33; ++size) {
    for (int root = 0; root < size; ++root) {
      std::vector<int> reached(static_cast<std::size_t>(size), 0);
      for (int rank = 0; rank < size; ++rank) {
        const TreePosition position = spanning_tree(size, root, rank);
        CHECK((position.parent == -1) == (rank == root));
        for (const TreePosition::Child& child : position.children) {
          ++reached[static_cast<std::size_t>(child.rank)];
          const TreePosition below = spanning_tree(size, root, child.rank);
          CHECK(below.parent == rank);
          CHECK(below.first == child.first);
          CHECK(below.last == child.last);
        }
      }
      for (int rank = 0; rank < size; ++rank) CHECK(reached[static_cast<std::size_t>(rank)] == (rank == root ? 0 : 1));
    }
  }
}

TEST_CASE("a subtree is a range that its children and itself fill exactly") {
  for (int size = 1; size <= 33; ++size) {
    for (int rank = 0; rank < size; ++rank) {
      const TreePosition position = spanning_tree(size, size / 3, rank);
      std::vector<int> covered(static_cast<std::size_t>(size), 0);
      ++covered[static_cast<std::size_t>(rank)];
      for (const TreePosition::Child& child : position.children) {
        for (int at = child.first; at <= child.last; ++at) ++covered[static_cast<std::size_t>(at)];
      }
      for (int at = 0; at < size; ++at) {
        CHECK(covered[static_cast<std::size_t>(at)] == (at >= position.first && at <= position.last ? 1 : 0));
      }
    }
  }
}

TEST_CASE("no rank is further from the root than ceil(log2 p)") {
  for (int size = 1; size <= 65; ++size) {
    const auto limit = static_cast<int>(std::bit_width(static_cast<unsigned>(size - 1)));
    for (int rank = 0; rank < size; ++rank) CHECK(depth_of(size, 0, rank) <= limit);
  }
}

TEST_CASE("the largest subtree comes first, so that it starts first") {
  const TreePosition root = spanning_tree(16, 0, 0);
  REQUIRE(root.children.size() == 4);
  for (std::size_t i = 1; i < root.children.size(); ++i) {
    const auto size_of = [&](std::size_t child) { return root.children[child].last - root.children[child].first; };
    CHECK(size_of(i - 1) >= size_of(i));
  }
}

}  // namespace margay::collectives
