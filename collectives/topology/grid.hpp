// The ranks of a communicator as a grid. Node by node they stand in one row, which is cut: dimension 0 lies fastest, so
// the first dimensions are those of a node's ranks (its factors), the last ones those of the nodes. Where a dimension
// does not fall on a node's border, or nodes have different numbers of ranks, it is a logical one that goes across.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/topology/members.hpp"
#include "collectives/topology/node_groups.hpp"

namespace margay::collectives {

// The plan of a hybrid (paper 001, section 3.2): the ranks as a grid, and for each of its dimensions
// whether it is done the short way or the long way. A value: all members of a call have the same one.

// Along a line of a grid.
enum class Way : std::uint8_t {
  brief,   // short: trees, or rounds between partners; each message has all that its sender has
  slices,  // long: each rank has its slice of the row, which goes straight from rank to rank
  bucket,  // long: the slices go round the line, in pieces
};

struct HybridPlan {
  static constexpr std::size_t kMaxDimensions = 4;
  struct Dimension {
    int length = 1;
    Way way = Way::slices;
    [[nodiscard]] bool is_long() const { return way != Way::brief; }
    bool operator==(const Dimension&) const = default;
  };
  // The ranks of a node come first, as the dimensions in which they are cut, then the nodes. The others have length 1.
  std::array<Dimension, kMaxDimensions> dimensions = {};

  [[nodiscard]] std::int64_t ranks() const;
  // Data is cut into slices, which may be short where the data is not.
  [[nodiscard]] bool any_long() const;

  // The order in which an algorithm goes through the dimensions, those of length 1 left out: first the long ones, so
  // that the short ones have slices to move only, each sort in the order of the grid.
  struct Order {
    std::array<std::uint8_t, kMaxDimensions> dimensions = {};
    std::size_t count = 0;
    [[nodiscard]] std::span<const std::uint8_t> all() const { return std::span(dimensions).first(count); }
  };
  [[nodiscard]] Order order() const;

  // Whether reductions and allreduces combine neighbours in the grid's order alone. Then an operation need not commute,
  // if that is the order of ranks (NodeGroups::in_rank_order): no ring, and no short dimension before a long one.
  [[nodiscard]] bool combines_in_order() const;
  // The same of a reduce-scatter, whose short way does not: all dimensions by slices.
  [[nodiscard]] bool reduce_scatters_in_order() const;

  bool operator==(const HybridPlan&) const = default;
};

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
