#include "collectives/algorithm/barrier_exchange.hpp"

namespace margay::collectives {

void barrier_exchange(Collective& collective) {
  const int size = collective.size();
  const int rank = collective.rank();
  for (int distance = 1; distance < size; distance *= 2) {
    // Awaited before the own message leaves, so that the other's finds its block.
    Awaited awaited;
    collective.expect(awaited, (rank - distance + size) % size, {});
    collective.send((rank + distance) % size, {});
    collective.finish(awaited);
  }
}

}  // namespace margay::collectives
