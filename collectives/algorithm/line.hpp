// One dimension of a hybrid, and how its dimensions cut a row.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/rows.hpp"
#include "collectives/topology/grid.hpp"

namespace margay::collectives {

// Of the rows of hybrids: whether there is a plan, and what the cheapest one costs.
[[nodiscard]] bool can_go_by_hybrid(const Ask& ask);
[[nodiscard]] Cost cost_of_hybrid(const Ask& ask);

// Each member of a line of the grid has its slice of the row in the end; or has it at the beginning, and all of them in
// the end. As reduce_scatter_among and collect_among; brief: in rounds, of operations that commute, and nobody has all.
Steps reduce_scatter_along(Collective& collective, Way way, Members line, SlicedRow row, Reducer combine);
Steps collect_along(Collective& collective, Way way, Members line, SlicedRow row, int has_all);

// What this rank has of a row that the long dimensions cut, each the slice of the one before.
class NestedSlices {
 public:
  struct Level {
    std::size_t dimension;
    Way way;
    Slice row;                  // what is cut here
    std::vector<Slice> slices;  // of each member of the line, from the beginning of that
  };
  NestedSlices(const Grid& grid, const HybridPlan& plan, std::size_t count);
  [[nodiscard]] std::span<const Level> levels() const { return levels_; }
  // In the end.
  [[nodiscard]] const Slice& own() const { return own_; }

 private:
  std::vector<Level> levels_;
  Slice own_;
};

// The blocks of a row that the members of a line have, those of one member behind those of the other: each one's own,
// and those of the ranks that differ from it in `free` dimensions too.
class LineBlocks {
 public:
  // `blocks`: of all ranks, in one run of memory.
  LineBlocks(const Grid& grid, std::size_t dimension, std::span<const std::uint8_t> free, const SlicedRow& blocks);
  [[nodiscard]] SlicedRow row() const { return {pieces_.region(), slices_, element_bytes_}; }

 private:
  PieceTable pieces_;
  std::size_t element_bytes_;
  std::vector<Slice> slices_;
};

// Of the dimensions of `order`: those behind number `at`.
[[nodiscard]] inline std::span<const std::uint8_t> behind(const HybridPlan::Order& order, std::size_t at) {
  return std::span(order.dimensions).subspan(at + 1, order.count - at - 1);
}
// Whether this rank has the coordinates of `place` in all of these.
[[nodiscard]] inline bool stands_at(const Grid& grid, const Grid::Place& place,
                                    std::span<const std::uint8_t> dimensions) {
  for (const std::uint8_t dimension : dimensions) {
    if (grid.mine()[dimension] != place[dimension]) return false;
  }
  return true;
}

}  // namespace margay::collectives
