#include "sim/machine/node_memory.hpp"

#include <algorithm>

#include "sim/shm/published.hpp"

namespace margay::sim {

namespace {

// Values of SegmentHeader::reading; 0: not known.
constexpr std::uint32_t kReads = 1;
constexpr std::uint32_t kDoesNotRead = 2;

}  // namespace

std::uint32_t NodeMemory::local_rank(std::uint32_t world_rank) const {
  const auto at = std::ranges::lower_bound(world_ranks_, world_rank);
  if (at == world_ranks_.end() || *at != world_rank) return kNotHere;
  if (!guests_.empty() && std::ranges::find(guests_, world_rank) != guests_.end()) return kNotHere;
  return static_cast<std::uint32_t>(at - world_ranks_.begin());
}

std::optional<bool> NodeMemory::reads_others() const {
  const std::uint32_t answer = answer_once(layout_.reading(), [this] { return try_reading_others(); });
  if (answer == 0) return std::nullopt;
  return answer == kReads;
}

// Tests all ranks that have started. The result holds for all ranks, because a rank that permits reading does not
// withdraw the permission, and all ranks are under the same rules.
std::uint32_t NodeMemory::try_reading_others() const {
  if (!may_read_) return kDoesNotRead;
  std::uint32_t here = 0;
  for (std::uint32_t rank = 0; rank < layout_.ranks(); ++rank) {
    const RankArea& area = layout_.area(rank);
    if (read_published(area.pid) == 0) continue;
    if (try_reading(area) != ReadFault::none) return kDoesNotRead;
    ++here;
  }
  return here > 1 ? kReads : 0;
}

ReadFault NodeMemory::read(std::uint32_t local_rank, const ReadOffer& offer, const portals::Region& landing) const {
  const RankArea& area = layout_.area(local_rank);
  BodyReader reader;
  ReadFault fault = reader.begin(area, offer, landing.bytes());
  portals::RegionCursor to(landing);
  while (fault == ReadFault::none && reader.left() != 0) fault = reader.step(to, reader.left());
  // Reading was permitted before, so a fault may mean that the process has ended.
  return fault != ReadFault::none && has_ended(area) ? ReadFault::gone : fault;
}

bool NodeMemory::can_be_read(std::uint32_t local_rank, std::span<const portals::Buffer> pieces) const {
  return can_read_ends(layout_.area(local_rank), pieces);
}

}  // namespace margay::sim
