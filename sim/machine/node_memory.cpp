#include "sim/machine/node_memory.hpp"

#include <algorithm>

namespace margay::sim {

std::uint32_t NodeMemory::local_rank(std::uint32_t world_rank) const {
  const auto at = std::ranges::lower_bound(world_ranks_, world_rank);
  if (at == world_ranks_.end() || *at != world_rank) return kNotHere;
  return static_cast<std::uint32_t>(at - world_ranks_.begin());
}

}  // namespace margay::sim
