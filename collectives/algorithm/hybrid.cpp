// Hybrids (paper 001, section 3.2, and its references): operations that handle the dimensions of a grid of ranks one
// after the other, each by the method that the plan gives it (topology/grid).
#include "collectives/algorithm/line.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/vectors.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

namespace {

// part_of(): a slice of a reduction's vector as a reduction. cut_at(): a level's vector with its slices.
Reduction part_of(const Reduction& is, const Slice& slice) {
  return {is.partial + slice.first * is.element_bytes, slice.count, is.element_bytes, is.combine};
}
SlicedVector cut_at(const NestedSlices::Level& level, const Reduction& is) {
  return {part_of(is, level.range).region(), level.slices, is.element_bytes};
}

}  // namespace

// Broadcast, dimension by dimension. In a long dimension the root of a line sends each of its l ranks a slice. All of
// them continue as roots of their lines in the other dimensions, and at the end the ranks of every line exchange their
// slices. In a short dimension the data goes along the line's tree. Cost, of n bytes: the sum over the dimensions, long
// ones first, of
//   long, slices or bucket: 2 (l - 1) α + 2 (l - 1)/l m β, m = n divided by the long lengths before;
//   short:                  ceil(log2 l) (α + m β), m = n divided by all long lengths.
Steps bcast_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, int root, portals::Region data) {
  const Grid grid(groups, plan);
  const HybridPlan::Order order = plan.order();
  const NestedSlices cut(grid, plan, data.bytes());
  const Grid::Position from = grid.position_of(root);
  const auto number = [&](std::size_t dimension) { return static_cast<std::size_t>(from[dimension]); };
  const auto part = [&](const Slice& slice) { return data.slice(slice.first, slice.count); };
  if (plan.any_long()) collective.ask_always();
  for (std::size_t at = 0; at < order.count; ++at) {
    const std::size_t dimension = order.dimensions[at];
    if (!stands_at(grid, from, behind(order, at))) continue;  // its line has no data yet
    if (at < cut.levels().size()) {
      const NestedSlices::Level& level = cut.levels()[at];
      co_await scatter_among(collective, grid.line(dimension), number(dimension), {part(level.range), level.slices});
    } else {
      co_await bcast_along(collective, tree_of(grid.line(dimension), number(dimension)), part(cut.own()));
    }
  }
  collective.next_phase();
  for (std::size_t at = cut.levels().size(); at-- > 0;) {
    const NestedSlices::Level& level = cut.levels()[at];
    // The root of a line has all its slices.
    const int has_all = stands_at(grid, from, behind(order, at)) ? from[level.dimension] : kNoMember;
    co_await collect_along(collective, level.method, grid.line(level.dimension), {part(level.range), level.slices},
                           has_all);
  }
}

extern constinit const Row<BcastCall> bcast_by_hybrid{
    {Algorithm::hybrid, has_hybrid_plan, cost_of_hybrid},
    [](Collective& collective, const Means& means, const BcastCall& call) {
      return bcast_hybrid(collective, means.groups, *means.plan, call.root, call.data);
    }};

// Reduction, dimension by dimension. In a long dimension the l ranks of a line combine the vector by slices. Each
// continues with its slice in the other dimensions, and at the end sends the result to the line's root. In a short
// dimension the remaining slice goes up the line's tree. Cost, of a vector of n bytes: the sum over the dimensions,
// long ones first, of
//   long, slices or bucket: 2 (l - 1) α + (l - 1)/l m (2 β + γ), m = n divided by the long lengths before;
//   short:                  ceil(log2 l) (α + m β + m γ), m = n divided by all long lengths.
Steps reduce_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, int root, Reduction is) {
  const Grid grid(groups, plan);
  const HybridPlan::Order order = plan.order();
  const NestedSlices cut(grid, plan, is.count);
  const Grid::Position to = grid.position_of(root);
  const auto number = [&](std::size_t dimension) { return static_cast<std::size_t>(to[dimension]); };
  if (plan.any_long()) collective.ask_always();
  for (const NestedSlices::Level& level : cut.levels()) {
    co_await reduce_scatter_along(collective, level.method, grid.line(level.dimension), cut_at(level, is), is.combine);
  }
  const Reduction own = part_of(is, cut.own());
  for (std::size_t at = cut.levels().size(); at < order.count; ++at) {
    const std::size_t dimension = order.dimensions[at];
    co_await reduce_along(collective, tree_of(grid.line(dimension), number(dimension)), own);
    if (grid.mine()[dimension] != to[dimension]) co_return;  // another rank of the line has the slice now
  }
  collective.next_phase();
  for (std::size_t at = cut.levels().size(); at-- > 0;) {
    const NestedSlices::Level& level = cut.levels()[at];
    co_await gather_among(collective, grid.line(level.dimension), number(level.dimension), cut_at(level, is));
    if (grid.mine()[level.dimension] != to[level.dimension]) co_return;
  }
}

extern constinit const Row<ReduceCall> reduce_by_hybrid{
    {Algorithm::hybrid, has_hybrid_plan, cost_of_hybrid},
    [](Collective& collective, const Means& means, const ReduceCall& call) {
      return reduce_hybrid(collective, means.groups, *means.plan, call.root, call.reduction);
    }};

// Allreduce, dimension by dimension. In a long dimension the l ranks of a line combine the vector by slices. Each
// continues with its slice in the other dimensions, all lines at once, and at the end the ranks of the line exchange
// the results. In a short dimension the ranks of a line do an allreduce of the remaining slice by exchange. Cost, of a
// vector of n bytes: the sum over the dimensions, long ones first, of
//   long, slices or bucket: 2 (l - 1) α + (l - 1)/l m (2 β + γ), m = n divided by the long lengths before;
//   short:                  ceil(log2 l) (α + m β + m γ), m = n divided by all long lengths; if l is
//                           not a power of two, floor(log2 l) of these and 2 (α + m β) + m γ more.
// With a node's ranks as one long dimension and k nodes as another long one, 2 (k - 1)/k n bytes leave each node. A
// bucket over all ranks sends about 2 n bytes from each rank.
//
// All ranks get the same bits: each slice is combined once in its line, and an exchange computes the same result on
// all ranks.
Steps allreduce_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, Reduction is) {
  const Grid grid(groups, plan);
  const HybridPlan::Order order = plan.order();
  const NestedSlices cut(grid, plan, is.count);
  if (plan.any_long()) collective.ask_always();
  for (const NestedSlices::Level& level : cut.levels()) {
    co_await reduce_scatter_along(collective, level.method, grid.line(level.dimension), cut_at(level, is), is.combine);
  }
  const Reduction own = part_of(is, cut.own());
  for (std::size_t at = cut.levels().size(); at < order.count; ++at) {
    co_await allreduce_exchange_among(collective, grid.line(order.dimensions[at]), own);
  }
  collective.next_phase();
  for (std::size_t at = cut.levels().size(); at-- > 0;) {
    const NestedSlices::Level& level = cut.levels()[at];
    co_await collect_along(collective, level.method, grid.line(level.dimension), cut_at(level, is), kNoMember);
  }
}

extern constinit const Row<AllreduceCall> allreduce_by_hybrid{
    {Algorithm::hybrid, has_hybrid_plan, cost_of_hybrid},
    [](Collective& collective, const Means& means, const AllreduceCall& call) {
      return allreduce_hybrid(collective, means.groups, *means.plan, call.reduction);
    }};

// Allgather, dimension by dimension: the ranks of a line exchange all that they have. The order of the dimensions is
// the reverse of the other hybrids' order: short ones first, while each rank has few bytes; and the nodes before a
// node's own ranks, so that each block goes to each node once. Cost, of n bytes in all: the sum over the dimensions in
// this order, of
//   long, slices or bucket: (l - 1) α + (l - 1) m β, m = n/p times the product of the lengths before;
//   short:                  ceil(log2 l) α + (l - 1) m β.
// The terms of β add up to (p - 1)/p n β, as without dimensions; the gain is in start-ups.
//
// Each block is received at its final place. Where the blocks of a message are not adjacent, one combined block
// describes them.
Steps allgather_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, AllgatherCall call) {
  const Grid grid(groups, plan);
  const HybridPlan::Order order = plan.order();
  static_cast<void>(place_own_block(collective, call));
  const std::vector<Slice> blocks = slices_of(call, collective.size());
  const portals::Region all(call.all, blocks.size() * call.block_bytes);
  if (plan.any_long()) collective.ask_always();
  for (std::size_t at = order.count; at-- > 0;) {
    const std::size_t dimension = order.dimensions[at];
    const LineBlocks of_line(grid, dimension, behind(order, at), {all, blocks});
    co_await collect_along(collective, plan.dimensions[dimension].method, grid.line(dimension), of_line.vector(),
                           kNoMember);
  }
}

extern constinit const Row<AllgatherCall> allgather_by_hybrid{
    {Algorithm::hybrid, has_hybrid_plan, cost_of_hybrid},
    [](Collective& collective, const Means& means, const AllgatherCall& call) {
      return allgather_hybrid(collective, means.groups, *means.plan, call);
    }};

// Reduce-scatter, dimension by dimension: the ranks of a line divide the slices among them by the coordinate of each
// slice's owner. Each rank combines its share and continues with it. Cost, of a vector of n bytes: the sum over the
// dimensions, long ones first, of
//   long, slices or bucket: (l - 1) α + (l - 1)/l m (β + γ), m = n divided by the lengths before;
//   short:                  ceil(log2 l) α + (l - 1)/l m (β + γ).
// The terms of β and γ add up to (p - 1)/p n (β + γ), as without dimensions. The gain is in start-ups, and in bytes
// between nodes, which carry data that a node's ranks have combined.
//
// Where the slices of a message are not adjacent, one combined block describes them.
Steps reduce_scatter_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, Reduction is,
                            std::span<const Slice> slices) {
  const Grid grid(groups, plan);
  const HybridPlan::Order order = plan.order();
  if (plan.any_long()) collective.ask_always();
  for (std::size_t at = 0; at < order.count; ++at) {
    const std::size_t dimension = order.dimensions[at];
    const LineBlocks of_line(grid, dimension, behind(order, at), {is.region(), slices, is.element_bytes});
    co_await reduce_scatter_along(collective, plan.dimensions[dimension].method, grid.line(dimension), of_line.vector(),
                                  is.combine);
  }
}

namespace {

Steps cut_and_run(Collective& collective, const NodeGroups& groups, HybridPlan plan, ReduceScatterCall call) {
  const std::vector<Slice> slices = slices_of(call, collective.size());
  co_await reduce_scatter_hybrid(collective, groups, plan, call.reduction, slices);
}

}  // namespace

extern constinit const Row<ReduceScatterCall> reduce_scatter_by_hybrid{
    {Algorithm::hybrid, has_hybrid_plan, cost_of_hybrid},
    [](Collective& collective, const Means& means, const ReduceScatterCall& call) {
      return cut_and_run(collective, means.groups, *means.plan, call);
    }};

}  // namespace margay::collectives
