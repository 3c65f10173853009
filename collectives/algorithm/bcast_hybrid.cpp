// A hybrid broadcast (paper 001, section 3.2, and its references), dimension by dimension of a grid of ranks: in a long
// one the root of a line sends each of its l ranks a slice, all of them go on as roots of theirs in the other
// dimensions, and every line gives each other the slices; in a short one it goes along the line's tree. Cost, of n
// bytes: the sum over the dimensions, long ones first, of
//   long, slices or bucket: 2 (l - 1) α + 2 (l - 1)/l m β, m = n by the product of the long lengths before;
//   short:                  ceil(log2 l) (α + m β), m = n by the product of all long lengths.
#include "collectives/algorithm/line.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

Steps bcast_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, int root, portals::Region data) {
  const Grid grid(groups, plan);
  const HybridPlan::Order order = plan.order();
  const NestedSlices cut(grid, plan, data.bytes());
  const Grid::Place from = grid.place_of(root);
  const auto number = [&](std::size_t dimension) { return static_cast<std::size_t>(from[dimension]); };
  const auto row_of = [&](const Slice& slice) { return data.slice(slice.first, slice.count); };
  if (plan.any_long()) collective.ask_always();
  for (std::size_t at = 0; at < order.count; ++at) {
    const std::size_t dimension = order.dimensions[at];
    if (!stands_at(grid, from, behind(order, at))) continue;  // its line has nothing yet
    if (at < cut.levels().size()) {
      const NestedSlices::Level& level = cut.levels()[at];
      co_await scatter_among(collective, grid.line(dimension), number(dimension), row_of(level.row), level.slices, 1);
    } else {
      co_await bcast_along(collective, tree_of(grid.line(dimension), number(dimension)), row_of(cut.own()));
    }
  }
  collective.next_phase();
  for (std::size_t at = cut.levels().size(); at-- > 0;) {
    const NestedSlices::Level& level = cut.levels()[at];
    // Who was the root of its line has all of it.
    const int has_all = stands_at(grid, from, behind(order, at)) ? from[level.dimension] : kNobody;
    co_await collect_along(collective, level.way, grid.line(level.dimension), row_of(level.row), level.slices, 1,
                           has_all);
  }
}

extern constinit const Row<BcastCall> bcast_by_hybrid{
    {Algorithm::hybrid, can_go_by_hybrid, cost_of_hybrid},
    [](Collective& collective, const Means& means, const BcastCall& call) {
      return bcast_hybrid(collective, means.groups, *means.plan, call.root, call.data);
    }};

}  // namespace margay::collectives
