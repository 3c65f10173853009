#include "collectives/algorithm/bcast_tree.hpp"

namespace margay::collectives {

void bcast_along(Collective& collective, const TreePlace& place, const portals::Region& data) {
  if (place.parent >= 0) collective.receive(place.parent, data);
  for (const TreePlace::Child& child : place.children) collective.send(child.rank, data);
  collective.flush();
}

void bcast_tree(Collective& collective, int root, const portals::Region& data) {
  bcast_along(collective, spanning_tree(collective.size(), root, collective.rank()), data);
}

}  // namespace margay::collectives
