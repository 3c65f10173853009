// A hybrid reduce-scatter (paper 001, section 3.2, and its references), dimension by dimension of a grid of ranks: the
// ranks of a line combine the slices of all that share their coordinate, and each goes on with its own share. Cost, of
// a row of n bytes: the sum over the dimensions, long ones first, of
//   long, slices or bucket: (l - 1) α + (l - 1)/l m (β + γ), m = n by the product of the lengths before;
//   short:                  ceil(log2 l) α + (l - 1)/l m (β + γ).
// In all (p - 1)/p n (β + γ), as without dimensions; what they save is start-ups, and bytes between nodes, which carry
// what a node's ranks have combined.
//
// Slices that a message carries and that are not one run are one combined block.
#include "collectives/algorithm/line.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

Steps reduce_scatter_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, std::byte* partial,
                            std::span<const Slice> slices, std::size_t element_bytes, Reducer combine) {
  const Grid grid(groups, plan);
  const HybridPlan::Order order = plan.order();
  if (plan.any_long()) collective.ask_always();
  for (std::size_t at = 0; at < order.count; ++at) {
    const std::size_t dimension = order.dimensions[at];
    const LineBlocks of_line(grid, dimension, behind(order, at), partial, slices, element_bytes);
    co_await reduce_scatter_along(collective, plan.dimensions[dimension].way, grid.line(dimension), of_line.row(),
                                  of_line.slices(), element_bytes, combine);
  }
}

namespace {

Steps cut_and_run(Collective& collective, const NodeGroups& groups, HybridPlan plan, ReduceScatterCall call) {
  const std::vector<Slice> slices = slices_of(call, collective.size());
  co_await reduce_scatter_hybrid(collective, groups, plan, call.reduction.partial, slices, call.reduction.element_bytes,
                                 call.reduction.combine);
}

}  // namespace

extern constinit const Row<ReduceScatterCall> reduce_scatter_by_hybrid{
    {Algorithm::hybrid, can_go_by_hybrid, cost_of_hybrid},
    [](Collective& collective, const Means& means, const ReduceScatterCall& call) {
      return cut_and_run(collective, means.groups, *means.plan, call);
    }};

}  // namespace margay::collectives
