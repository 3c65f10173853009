#include "collectives/algorithm/reduce_tree.hpp"

#include "collectives/algorithm/scratch.hpp"

namespace margay::collectives {

void reduce_along(Collective& collective, const TreePlace& place, std::byte* partial, std::size_t count,
                  std::uint64_t bytes, Combine combine) {
  Scratch incoming(place.children.empty() ? 0 : bytes);
  // Smallest subtree first: it is ready first.
  for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
    collective.receive(child->rank, portals::Region(incoming.base(), bytes));
    if (bytes != 0) combine(incoming.base(), partial, count);
  }
  if (place.parent >= 0) {
    collective.send(place.parent, portals::Region(partial, bytes));
    collective.flush();
  }
}

void reduce_tree(Collective& collective, int root, std::byte* partial, std::size_t count, std::size_t element_bytes,
                 Combine combine) {
  reduce_along(collective, spanning_tree(collective.size(), root, collective.rank()), partial, count,
               count * element_bytes, combine);
}

}  // namespace margay::collectives
