#include "collectives/algorithm/bcast_tree.hpp"

#include "collectives/topology/spanning_tree.hpp"

namespace margay::collectives {

void bcast_tree(Collective& collective, int root, const portals::Region& data) {
  const TreePlace place = spanning_tree(collective.size(), root, collective.rank());
  if (place.parent >= 0) collective.receive(place.parent, data);
  for (const TreePlace::Child& child : place.children) collective.send(child.rank, data);
  collective.flush();
}

}  // namespace margay::collectives
