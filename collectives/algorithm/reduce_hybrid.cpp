// A hybrid reduction (paper 001, section 3.2, and its references), dimension by dimension of a grid of ranks: in a long
// one the l ranks of a line combine the row by slices, go on with a slice each in the other dimensions, and send what
// came of it to the line's root; in a short one the slice that is left goes up the line's tree. Cost, of a row of n
// bytes: the sum over the dimensions, long ones first, of
//   long, slices or bucket: 2 (l - 1) α + (l - 1)/l m (2 β + γ), m = n by the product of the long lengths before;
//   short:                  ceil(log2 l) (α + m β + m γ), m = n by the product of all long lengths.
#include "collectives/algorithm/line.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

Steps reduce_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, int root, std::byte* partial,
                    std::size_t count, std::size_t element_bytes, Reducer combine) {
  const Grid grid(groups, plan);
  const HybridPlan::Order order = plan.order();
  const NestedSlices cut(grid, plan, count);
  const Grid::Place to = grid.place_of(root);
  const auto number = [&](std::size_t dimension) { return static_cast<std::size_t>(to[dimension]); };
  const auto row_of = [&](const Slice& slice) {
    return portals::Region(partial + slice.first * element_bytes, slice.count * element_bytes);
  };
  if (plan.any_long()) collective.ask_always();
  for (const NestedSlices::Level& level : cut.levels()) {
    co_await reduce_scatter_along(collective, level.way, grid.line(level.dimension), row_of(level.row), level.slices,
                                  element_bytes, combine);
  }
  const portals::Region own = row_of(cut.own());
  for (std::size_t at = cut.levels().size(); at < order.count; ++at) {
    const std::size_t dimension = order.dimensions[at];
    co_await reduce_along(collective, tree_of(grid.line(dimension), number(dimension)), own.single().base,
                          cut.own().count, own.bytes(), combine);
    if (grid.mine()[dimension] != to[dimension]) co_return;  // another one of the line has it now
  }
  collective.next_phase();
  for (std::size_t at = cut.levels().size(); at-- > 0;) {
    const NestedSlices::Level& level = cut.levels()[at];
    co_await gather_among(collective, grid.line(level.dimension), number(level.dimension), row_of(level.row),
                          level.slices, element_bytes);
    if (grid.mine()[level.dimension] != to[level.dimension]) co_return;
  }
}

extern constinit const Row<ReduceCall> reduce_by_hybrid{
    {Algorithm::hybrid, can_go_by_hybrid, cost_of_hybrid},
    [](Collective& collective, const Means& means, const ReduceCall& call) {
      return reduce_hybrid(collective, means.groups, *means.plan, call.root, call.reduction.partial,
                           call.reduction.count, call.reduction.element_bytes, call.reduction.combine);
    }};

}  // namespace margay::collectives
