// Tests of members grouped by node: groups, leaders, and a tree of leaders that reaches each node once.
#include "collectives/topology/node_groups.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/seeds.hpp"

namespace margay::collectives {

TEST_CASE("one node: all ranks are in one group, the root leads") {
  const std::vector<std::uint32_t> nodes(5, 7);
  for (int rank = 0; rank < 5; ++rank) {
    const NodeGroups groups(nodes, rank);
    CHECK(groups.nodes() == 1);
    CHECK(groups.most() == 5);
    CHECK(groups.index() == rank);
    CHECK(groups.mine().size() == 5);
    for (int root = 0; root < 5; ++root) CHECK(groups.leader(root) == root);
  }
}

TEST_CASE("random placements: members agree on groups and leaders, and the leaders' tree reaches each node once") {
  for (const std::uint64_t seed : testing::Seeds(200)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> nodes(1 + random() % 20);
    for (std::uint32_t& node : nodes) node = static_cast<std::uint32_t>(random() % 6);
    const int size = static_cast<int>(nodes.size());
    const int root = static_cast<int>(random() % nodes.size());
    std::set<int> leaders;
    std::multiset<int> reached{root};
    for (int rank = 0; rank < size; ++rank) {
      const NodeGroups groups(nodes, rank);
      const auto on = [&](int other) { return nodes[static_cast<std::size_t>(other)]; };
      CHECK(groups.mine()[static_cast<std::size_t>(groups.index())] == rank);
      for (const int member : groups.mine()) CHECK(on(member) == on(rank));
      CHECK(std::ranges::is_sorted(groups.mine()));
      CHECK(static_cast<long>(groups.mine().size()) == std::ranges::count(nodes, on(rank)));
      const int leader = groups.leader(root);
      CHECK(on(leader) == on(rank));
      leaders.insert(leader);
      if (leader != rank) continue;
      const TreePosition place = groups.leaders_tree(root);
      CHECK((place.parent == -1) == (rank == root));
      for (const TreePosition::Child& child : place.children) {
        reached.insert(child.rank);
        CHECK(NodeGroups(nodes, child.rank).leaders_tree(root).parent == rank);
      }
    }
    CHECK(static_cast<int>(leaders.size()) == NodeGroups(nodes, 0).nodes());
    CHECK(std::vector<int>(reached.begin(), reached.end()) == std::vector<int>(leaders.begin(), leaders.end()));
  }
}

}  // namespace margay::collectives
