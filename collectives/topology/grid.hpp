// The ranks of a communicator as a grid of up to four dimensions. The grid is filled with the ranks node by node, and
// dimension 0 varies fastest. So the first dimensions divide a node's ranks, and the last ones the nodes. Where a
// dimension does not end at a node's border, or nodes have different numbers of ranks, its lines cross nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/topology/members.hpp"
#include "collectives/topology/node_groups.hpp"

namespace margay::collectives {

// The method by which data travels along a line of a grid.
enum class Method : std::uint8_t {
  // Short: trees, or rounds between partners; each message carries all that its sender has.
  brief,
  // Long: each rank has a slice of the row, which goes straight from rank to rank.
  slices,
  // Long: the slices go round the line as a ring, in pieces.
  bucket,
};

// The plan of a hybrid (paper 001, section 3.2): for each of up to four dimensions of a grid its length, and the method
// along it. A value, equal on all members of a call.
struct HybridPlan {
  static constexpr std::size_t kMaxDimensions = 4;
  struct Dimension {
    // Ranks along the dimension.
    int length = 1;
    Method method = Method::slices;
    [[nodiscard]] bool is_long() const { return method != Method::brief; }
    bool operator==(const Dimension&) const = default;
  };
  // The dimensions of a node's ranks, then those of the nodes. Unused ones have length 1.
  std::array<Dimension, kMaxDimensions> dimensions = {};

  // The product of the lengths.
  [[nodiscard]] std::int64_t ranks() const;
  // Whether any dimension is long. If so, data is cut into slices, which may be short although the data is not.
  [[nodiscard]] bool any_long() const;

  // The order in which an algorithm handles the dimensions, without those of length 1: the long ones first, so that the
  // short ones have only slices to move. Long ones, and short ones, keep the grid's order among themselves.
  struct Order {
    std::array<std::uint8_t, kMaxDimensions> dimensions = {};
    std::size_t count = 0;
    [[nodiscard]] std::span<const std::uint8_t> all() const { return std::span(dimensions).first(count); }
  };
  [[nodiscard]] Order order() const;

  // Whether reductions and allreduces combine only neighbours in the grid's order: no ring, and no short dimension
  // before a long one. If so, and if the grid's order is the order of ranks (NodeGroups::in_rank_order), the operation
  // need not commute.
  [[nodiscard]] bool combines_in_order() const;
  // The same for a reduce-scatter: whether all dimensions go by slices, because the other methods do not keep the
  // order.
  [[nodiscard]] bool reduce_scatters_in_order() const;

  bool operator==(const HybridPlan&) const = default;
};

// A rank's view of the grid: its coordinates, its lines, and the ranks at other coordinates.
class Grid {
 public:
  static constexpr std::size_t kDimensions = HybridPlan::kMaxDimensions;
  // A position: a coordinate for each dimension.
  using Position = std::array<int, kDimensions>;

  // The grid as the rank of `groups` sees it. Requires: `groups` outlives it; the plan has as many ranks.
  Grid(const NodeGroups& groups, const HybridPlan& plan);

  // The ranks along a dimension, and this rank's coordinates.
  [[nodiscard]] int length(std::size_t dimension) const { return lengths_[dimension]; }
  [[nodiscard]] const Position& mine() const { return mine_; }
  // A rank's position, and the rank at a position.
  [[nodiscard]] Position position_of(int rank) const;
  [[nodiscard]] int rank_at(const Position& position) const;
  // This rank's line along a dimension: the ranks that differ from it in that coordinate alone, and itself, in the
  // coordinate's order. Valid while the grid exists.
  [[nodiscard]] Members line(std::size_t dimension) const {
    return {lines_[dimension], static_cast<std::size_t>(mine_[dimension])};
  }
  // The ranks at `place` and at all positions that differ from it only in the dimensions `free`, in the grid's order.
  [[nodiscard]] std::vector<int> plane(Position position, std::span<const std::uint8_t> free) const;

 private:
  const NodeGroups& groups_;
  Position lengths_;
  Position mine_;
  std::array<std::vector<int>, kDimensions> lines_;
};

// The ways to cut `nodes` nodes with `on_node` ranks each into at most HybridPlan::kMaxDimensions lengths above 1, a
// node's lengths first: the candidates for the cheapest plan. The lengths of a node ascend, and so do those between
// nodes, because their order does not change a plan's cost. At most kGridCuts, the most even ones of each number of
// dimensions; the cut with one length for a node and one for the nodes is always among them. Empty for one rank.
inline constexpr std::size_t kGridCuts = 64;
[[nodiscard]] std::vector<std::vector<int>> grid_cuts(int on_node, int nodes);

}  // namespace margay::collectives
