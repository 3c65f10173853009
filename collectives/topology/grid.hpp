// The ranks of a communicator as a grid. Node by node they stand in one row, which is cut: dimension 0 lies fastest, so
// the first dimensions are those of a node's ranks (its factors), the last ones those of the nodes. Where a dimension
// does not fall on a node's border, or nodes have different numbers of ranks, it is a logical one that goes across.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "collectives/topology/hybrid_plan.hpp"
#include "collectives/topology/members.hpp"
#include "collectives/topology/node_groups.hpp"

namespace margay::collectives {

class Grid {
 public:
  static constexpr std::size_t kDimensions = HybridPlan::kMaxDimensions;
  using Place = std::array<int, kDimensions>;  // a coordinate for each dimension

  // As `groups`' rank sees it. Requires: groups stays; the plan's ranks are as many.
  Grid(const NodeGroups& groups, const HybridPlan& plan);

  [[nodiscard]] int length(std::size_t dimension) const { return lengths_[dimension]; }
  [[nodiscard]] const Place& mine() const { return mine_; }
  [[nodiscard]] Place place_of(int rank) const;
  [[nodiscard]] int rank_at(const Place& place) const;
  // The ranks that differ from this one in that coordinate alone, in its order. Valid while the grid is there.
  [[nodiscard]] Members line(std::size_t dimension) const {
    return {lines_[dimension], static_cast<std::size_t>(mine_[dimension])};
  }
  // The ranks that have the coordinates of `place`, but any in the dimensions that `free` names; in the grid's order.
  [[nodiscard]] std::vector<int> plane(Place place, std::span<const std::uint8_t> free) const;

 private:
  const NodeGroups& groups_;
  Place lengths_;
  Place mine_;
  std::array<std::vector<int>, kDimensions> lines_;
};

// Ways to cut `on_node` ranks of each of `nodes` nodes into at most HybridPlan::kMaxDimensions lengths above 1, those
// of a node first: for who looks for the cheapest plan. Which of two lengths of one sort comes first makes no
// difference to what a plan costs, so they ascend. Few, also of numbers with many factors: at most kGridCuts, the most
// even ones of each number of dimensions; the cut into one length each is always there. One rank: none.
inline constexpr std::size_t kGridCuts = 64;
[[nodiscard]] std::vector<std::vector<int>> grid_cuts(int on_node, int nodes);

}  // namespace margay::collectives
