// The lines of a hybrid's grid: operations along one dimension, and the slices into which dimensions cut a vector.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/vectors.hpp"
#include "collectives/topology/grid.hpp"

namespace margay::collectives {

// The functions of the registry's rows of hybrids (Formula): has_hybrid_plan() is `can`; cost_of_hybrid() is `cost`,
// that of the cheapest plan. The latter tries all plans, so choices are kept with the communicator (select/choose).
[[nodiscard]] bool has_hybrid_plan(const CallFacts& call);
[[nodiscard]] Cost cost_of_hybrid(const CallFacts& call);

// Operations along a line, by any method. reduce_scatter_along(): each member ends with its combined slice of the
// vector (reduce_scatter_among()). Requires: the operation commutes, unless the method is Method::slices.
// collect_along(): each member begins with its slice, and ends with all slices (collect_among()). `has_all`: the number
// of the member that has all slices from the start; kNoMember: no member. Method::brief, which goes in rounds, ignores
// it.
Steps reduce_scatter_along(Collective& collective, Method method, Members line, SlicedVector vector, Reducer combine);
Steps collect_along(Collective& collective, Method method, Members line, SlicedVector vector, int has_all);

// This rank's slices of a vector that the long dimensions cut: each slice is a part of the one before.
class NestedSlices {
 public:
  // One long dimension, in the plan's order.
  struct Level {
    std::size_t dimension;
    Method method;
    Slice range;                // the elements that are cut here
    std::vector<Slice> slices;  // one for each member of the line, counted from range.first
  };
  // Cuts a vector of `count` elements by the plan's long dimensions.
  NestedSlices(const Grid& grid, const HybridPlan& plan, std::size_t count);
  // One for each long dimension, in the plan's order.
  [[nodiscard]] std::span<const Level> levels() const { return levels_; }
  // The slice after all cuts.
  [[nodiscard]] const Slice& own() const { return own_; }

 private:
  // Computed once, at construction; O(ranks of a line) for each long dimension.
  std::vector<Level> levels_;
  Slice own_;
};

// The blocks of a vector, grouped by the members of a line. A member's group consists of its own block and of the
// blocks of the ranks that differ from the member only in the dimensions `free`. The groups are in the order of the
// members.
class LineBlocks {
 public:
  // `blocks`: one block for each rank, all in one run of memory. This object refers to that memory.
  LineBlocks(const Grid& grid, std::size_t dimension, std::span<const std::uint8_t> free, const SlicedVector& blocks);
  // A slice for each member. Valid while this object lives.
  [[nodiscard]] SlicedVector vector() const { return {pieces_.region(), slices_, element_bytes_}; }

 private:
  // The blocks' memory, in the order of the line's members.
  PieceTable pieces_;
  std::size_t element_bytes_;
  std::vector<Slice> slices_;
};

// The dimensions of `order` behind index `at`.
[[nodiscard]] inline std::span<const std::uint8_t> behind(const HybridPlan::Order& order, std::size_t at) {
  return std::span(order.dimensions).subspan(at + 1, order.count - at - 1);
}
// Whether this rank has the coordinates of `place` in all of `dimensions`.
[[nodiscard]] inline bool stands_at(const Grid& grid, const Grid::Position& position,
                                    std::span<const std::uint8_t> dimensions) {
  for (const std::uint8_t dimension : dimensions) {
    if (grid.mine()[dimension] != position[dimension]) return false;
  }
  return true;
}

}  // namespace margay::collectives
