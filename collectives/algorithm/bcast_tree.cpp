// Broadcast along the minimum spanning tree (paper 001, section 3.1). Cost: ceil(log2 p) (α + n β).
#include <utility>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

Steps bcast_along(Collective& collective, TreePlace place, portals::Region data) {
  if (place.parent >= 0) co_await Receive(collective, place.parent, data);
  for (const TreePlace::Child& child : place.children) co_await Send(collective, child.rank, data);
  co_await Flush(collective);
}

Steps bcast_tree(Collective& collective, int root, portals::Region data) {
  return bcast_along(collective, spanning_tree(collective.size(), root, collective.rank()), std::move(data));
}

extern constinit const Row<BcastCall> bcast_by_tree{
    {Algorithm::tree, always, [](const Ask& ask) { return tree_out(ask.facts, ask.n()); }},
    [](Collective& collective, const Means& /*means*/, const BcastCall& call) {
      return bcast_tree(collective, call.root, call.data);
    }};

}  // namespace margay::collectives
