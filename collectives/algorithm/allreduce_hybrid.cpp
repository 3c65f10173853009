// A hybrid (paper 001, section 3.2, and its references): an allreduce dimension by dimension of a grid of ranks. In a
// long one the l ranks of a line combine the row by slices, go on with a slice each in the other dimensions, all lines
// at once, and give each other what came of it; in a short one the ranks of a line do an allreduce by exchange of the
// slice that is left. Cost, of a row of n bytes: the sum over the dimensions, long ones first, of
//   long, slices or bucket: 2 (l - 1) α + (l - 1)/l m (2 β + γ), m = n by the product of the long lengths before;
//   short:                  ceil(log2 l) (α + m β + m γ), m = n by the product of all long lengths; where l is no power
//                           of two floor(log2 l) of these and 2 (α + m β) + m γ more.
// With the ranks of a node as one long dimension and k nodes as the other, 2 (k - 1)/k of the n bytes leave each node:
// without dimensions as many leave each of its ranks.
//
// All ranks end with the same bits: each slice is combined once in its line, and an exchange computes the same on all.
#include "collectives/algorithm/line.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

Steps allreduce_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, std::byte* partial,
                       std::size_t count, std::size_t element_bytes, Reducer combine) {
  const Grid grid(groups, plan);
  const HybridPlan::Order order = plan.order();
  const NestedSlices cut(grid, plan, count);
  const auto row_of = [&](const Slice& slice) {
    return portals::Region(partial + slice.first * element_bytes, slice.count * element_bytes);
  };
  if (plan.any_long()) collective.ask_always();
  for (const NestedSlices::Level& level : cut.levels()) {
    co_await reduce_scatter_along(collective, level.way, grid.line(level.dimension), row_of(level.row), level.slices,
                                  element_bytes, combine);
  }
  const Slice& own = cut.own();
  for (std::size_t at = cut.levels().size(); at < order.count; ++at) {
    co_await allreduce_exchange_among(collective, grid.line(order.dimensions[at]), partial + own.first * element_bytes,
                                      own.count, element_bytes, combine);
  }
  collective.next_phase();
  for (std::size_t at = cut.levels().size(); at-- > 0;) {
    const NestedSlices::Level& level = cut.levels()[at];
    co_await collect_along(collective, level.way, grid.line(level.dimension), row_of(level.row), level.slices,
                           element_bytes, kNobody);
  }
}

extern constinit const Row<AllreduceCall> allreduce_by_hybrid{
    {Algorithm::hybrid, can_go_by_hybrid, cost_of_hybrid},
    [](Collective& collective, const Means& means, const AllreduceCall& call) {
      return allreduce_hybrid(collective, means.groups, *means.plan, call.reduction.partial, call.reduction.count,
                              call.reduction.element_bytes, call.reduction.combine);
    }};

}  // namespace margay::collectives
