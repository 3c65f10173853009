#include "collectives/algorithm/barrier_tree.hpp"

#include "collectives/topology/spanning_tree.hpp"

namespace margay::collectives {

void barrier_tree(Collective& collective) {
  const TreePlace place = spanning_tree(collective.size(), 0, collective.rank());
  for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
    collective.receive(child->rank, {});
  }
  if (place.parent >= 0) {
    // Awaited before the own message goes up, so that the answer finds its block.
    Awaited release;
    collective.expect(release, place.parent, {});
    collective.send(place.parent, {});
    collective.finish(release);
  }
  for (const TreePlace::Child& child : place.children) collective.send(child.rank, {});
}

}  // namespace margay::collectives
