#include "collectives/algorithm/line.hpp"

#include "collectives/cost/parts.hpp"

namespace margay::collectives {

bool has_hybrid_plan(const CallFacts& call) {
  return can_hybrid(call.operation, call.bytes, call.facts, call.in_order);
}

// Tries every plan: called once for each class of lengths and communicator, not for each call (Chosen).
Cost cost_of_hybrid(const CallFacts& call) {
  return cost_of_plan(cheapest_plan(call.operation, call.bytes, call.facts, call.in_order), call.operation, call.bytes,
                      call.facts);
}

// Returns the routine of the dimension's method; the caller awaits it.
Steps reduce_scatter_along(Collective& collective, Method method, Members line, SlicedVector vector, Reducer combine) {
  switch (method) {
    case Method::bucket:
      return reduce_scatter_bucket(collective, line, vector, combine);
    case Method::brief:
      return reduce_scatter_exchange(collective, line, vector, combine);
    case Method::slices:
      break;
  }
  return reduce_scatter_among(collective, line, vector, combine);
}

Steps collect_along(Collective& collective, Method method, Members line, SlicedVector vector, int has_all) {
  switch (method) {
    case Method::bucket:
      return collect_bucket(collective, line, vector, has_all);
    case Method::brief:
      return allgather_exchange(collective, line, vector);
    case Method::slices:
      break;
  }
  return collect_among(collective, line, vector, has_all);
}

NestedSlices::NestedSlices(const Grid& grid, const HybridPlan& plan, std::size_t count) : own_{0, count} {
  const HybridPlan::Order order = plan.order();
  for (const std::uint8_t dimension : order.all()) {
    const HybridPlan::Dimension& how = plan.dimensions[dimension];
    // Long dimensions come first in the order.
    if (!how.is_long()) return;
    const Level& level = levels_.emplace_back(Level{dimension, how.method, own_, even_slices(own_.count, how.length)});
    const Slice& mine = level.slices[static_cast<std::size_t>(grid.mine()[dimension])];
    // The next dimension cuts this slice only.
    own_ = {own_.first + mine.first, mine.count};
  }
}

LineBlocks::LineBlocks(const Grid& grid, std::size_t dimension, std::span<const std::uint8_t> free,
                       const SlicedVector& blocks)
    : element_bytes_(blocks.element_bytes) {
  Grid::Position position = grid.mine();
  std::size_t first = 0;
  // For each member of the line: its own block, and the blocks that it will hold for others.
  for (position[dimension] = 0; position[dimension] < grid.length(dimension); ++position[dimension]) {
    std::size_t count = 0;
    for (const int rank : grid.plane(position, free)) {
      const auto number = static_cast<std::size_t>(rank);
      pieces_.add(blocks.of(number));
      count += blocks.slices[number].count;
    }
    slices_.push_back({first, count});
    first += count;
  }
}

}  // namespace margay::collectives
