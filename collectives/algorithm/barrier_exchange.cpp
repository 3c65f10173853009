#include "collectives/algorithm/barrier_exchange.hpp"

namespace margay::collectives {

Steps barrier_exchange(Collective& collective) {
  const int size = collective.size();
  const int rank = collective.rank();
  for (int distance = 1; distance < size; distance *= 2) {
    const int above = rank + distance < size ? rank + distance : rank + distance - size;
    const int below = rank >= distance ? rank - distance : rank - distance + size;
    co_await Exchange(collective, above, nullptr, below, nullptr, 0);
  }
}

}  // namespace margay::collectives
