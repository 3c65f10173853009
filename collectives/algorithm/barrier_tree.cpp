// Barrier: in along the spanning tree, out along it. Cost: 2 ceil(log2 p) α.
#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/topology/spanning_tree.hpp"

namespace margay::collectives {

Steps barrier_tree(Collective& collective) {
  const TreePlace place = spanning_tree(collective.size(), 0, collective.rank());
  for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
    co_await Receive(collective, child->rank, {});
  }
  if (place.parent >= 0) {
    // Awaited before the own message goes up, so that the answer finds its block.
    Receive release(collective, place.parent, {});
    co_await Send(collective, place.parent, {});
    co_await release;
  }
  for (const TreePlace::Child& child : place.children) co_await Send(collective, child.rank, {});
}

extern constinit const Row<BarrierCall> barrier_by_tree{
    {Algorithm::tree, always, [](const Ask& ask) { return tree_in(ask.facts, 0) + tree_out(ask.facts, 0, true); }},
    [](Collective& collective, const Means& /*means*/, const BarrierCall& /*call*/) {
      return barrier_tree(collective);
    }};

}  // namespace margay::collectives
