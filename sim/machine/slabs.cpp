#include "sim/machine/slabs.hpp"

#include "portals/base/assert.hpp"

namespace margay::sim {

std::optional<std::uint64_t> Slabs::take(std::uint64_t slot_bytes, std::uint64_t bytes) {
  std::set<std::uint64_t>& rooms = with_room(slot_bytes);
  if (rooms.empty()) return std::nullopt;
  // The lowest slab is filled first.
  const std::uint64_t begin = *rooms.begin();
  Slab& slab = slabs_.at(begin);
  const std::uint16_t slot = slab.free.back();
  slab.free.pop_back();
  if (slab.free.empty()) rooms.erase(rooms.begin());
  slab.lengths[slot] = static_cast<std::uint16_t>(bytes + 1);
  ++pieces_;
  return begin + slot * slot_bytes;
}

void Slabs::add(std::uint64_t begin, std::uint64_t slot_bytes) {
  const auto slots = static_cast<std::size_t>(kSlabBytes / slot_bytes);
  Slab slab{slot_bytes, std::vector<std::uint16_t>(slots), std::vector<std::uint16_t>(slots)};
  // In descending order, so that the lowest slot is taken first.
  for (std::size_t i = 0; i < slots; ++i) slab.free[i] = static_cast<std::uint16_t>(slots - 1 - i);
  const bool is_new = slabs_.emplace(begin, std::move(slab)).second;
  MARGAY_ASSERT(is_new);
  with_room(slot_bytes).insert(begin);
}

std::optional<std::uint64_t> Slabs::give_back(std::uint64_t position) {
  const auto found = std::prev(slabs_.upper_bound(position));
  Slab& slab = found->second;
  const auto slot = static_cast<std::uint16_t>((position - found->first) / slab.slot_bytes);
  MARGAY_ASSERT(found->first + slot * slab.slot_bytes == position && slab.lengths[slot] != 0);
  slab.lengths[slot] = 0;
  slab.free.push_back(slot);
  --pieces_;
  std::set<std::uint64_t>& rooms = with_room(slab.slot_bytes);
  rooms.insert(found->first);
  // The last slab with room stays, so that a program that repeatedly allocates and frees one piece does not allocate a
  // slab each time.
  if (slab.free.size() != slab.lengths.size() || rooms.size() == 1) return std::nullopt;
  const std::uint64_t begin = found->first;
  rooms.erase(begin);
  slabs_.erase(found);
  return begin;
}

// Called when the heap has no room. At most one slab of each length of slots is empty, because give_back() returns
// every other one.
std::optional<std::uint64_t> Slabs::drop_empty() {
  for (std::set<std::uint64_t>& rooms : with_room_) {
    for (const std::uint64_t begin : rooms) {
      const Slab& slab = slabs_.at(begin);
      if (slab.free.size() != slab.lengths.size()) continue;
      rooms.erase(begin);
      slabs_.erase(begin);
      return begin;
    }
  }
  return std::nullopt;
}

std::optional<Slabs::Piece> Slabs::find(std::uint64_t position) const {
  const auto after = slabs_.upper_bound(position);
  if (after == slabs_.begin()) return std::nullopt;
  const auto& [begin, slab] = *std::prev(after);
  if (position - begin >= kSlabBytes) return std::nullopt;
  const auto slot = static_cast<std::size_t>((position - begin) / slab.slot_bytes);
  if (slab.lengths[slot] == 0) return std::nullopt;
  return Piece{begin + slot * slab.slot_bytes, slab.lengths[slot] - std::uint64_t{1}};
}

}  // namespace margay::sim
