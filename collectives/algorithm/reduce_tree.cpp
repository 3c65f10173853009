#include "collectives/algorithm/reduce_tree.hpp"

#include <memory>

#include "collectives/topology/spanning_tree.hpp"

namespace margay::collectives {

void reduce_tree(Collective& collective, int root, std::byte* partial, std::size_t count, std::size_t element_bytes,
                 Combine combine) {
  const TreePlace place = spanning_tree(collective.size(), root, collective.rank());
  const std::uint64_t bytes = count * element_bytes;
  std::unique_ptr<std::byte[]> incoming;
  if (!place.children.empty()) incoming = std::make_unique_for_overwrite<std::byte[]>(bytes);
  // Smallest subtree first: it is ready first.
  for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
    collective.receive(child->rank, portals::Region(incoming.get(), bytes));
    combine(incoming.get(), partial, count);
  }
  if (place.parent >= 0) {
    collective.send(place.parent, portals::Region(partial, bytes));
    collective.flush();
  }
}

}  // namespace margay::collectives
