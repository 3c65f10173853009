// A hybrid allgather (paper 001, section 3.2, and its references), dimension by dimension of a grid of ranks: the ranks
// of a line give each other all that they have. The dimensions come in the reverse of the order of other hybrids, the
// short ones first, while there is little to move, and nodes before a node's own ranks, so that each block goes once to
// each node. Cost, of n bytes in all, of the dimensions in this order:
//   long, slices or bucket: (l - 1) α + (l - 1) m β, m = n/p by the product of the lengths before, times: n/p each;
//   short:                  ceil(log2 l) α + (l - 1) m β.
// In all (p - 1)/p n β, as without dimensions; what they save is start-ups.
//
// Blocks lie at their final places from the beginning: those of a message, where they are not one run, are one combined
// block.
#include "collectives/algorithm/line.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/rows.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

Steps allgather_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, std::byte* all,
                       std::uint64_t block_bytes) {
  const Grid grid(groups, plan);
  const HybridPlan::Order order = plan.order();
  std::vector<Slice> blocks;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(collective.size()); ++rank) {
    blocks.push_back({rank * block_bytes, block_bytes});
  }
  if (plan.any_long()) collective.ask_always();
  for (std::size_t at = order.count; at-- > 0;) {
    const std::size_t dimension = order.dimensions[at];
    const LineBlocks of_line(grid, dimension, behind(order, at), all, blocks, 1);
    co_await collect_along(collective, plan.dimensions[dimension].way, grid.line(dimension), of_line.row(),
                           of_line.slices(), 1, kNobody);
  }
}

extern constinit const Row<AllgatherCall> allgather_by_hybrid{
    {Algorithm::hybrid, can_go_by_hybrid, cost_of_hybrid},
    [](Collective& collective, const Means& means, const AllgatherCall& call) {
      static_cast<void>(place_own_block(collective, call));
      return allgather_hybrid(collective, means.groups, *means.plan, call.all, call.block_bytes);
    }};

}  // namespace margay::collectives
