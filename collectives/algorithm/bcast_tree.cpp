// Broadcast along the minimum spanning tree (paper 001, section 3.1). Cost: ceil(log2 p) (α + n β).
#include <utility>

#include "collectives/algorithm/algorithms.hpp"

namespace margay::collectives {

Steps bcast_along(Collective& collective, TreePlace place, portals::Region data) {
  if (place.parent >= 0) co_await Receive(collective, place.parent, data);
  for (const TreePlace::Child& child : place.children) co_await Send(collective, child.rank, data);
  co_await Flush(collective);
}

Steps bcast_tree(Collective& collective, int root, portals::Region data) {
  return bcast_along(collective, spanning_tree(collective.size(), root, collective.rank()), std::move(data));
}

}  // namespace margay::collectives
