#include "sim/machine/slabs.hpp"

#include "portals/base/assert.hpp"

namespace margay::sim {

std::optional<std::uint64_t> Slabs::take(std::uint64_t place_bytes, std::uint64_t bytes) {
  std::set<std::uint64_t>& rooms = with_room(place_bytes);
  if (rooms.empty()) return std::nullopt;
  // The lowest slab is filled first.
  const std::uint64_t begin = *rooms.begin();
  Slab& slab = slabs_.at(begin);
  const std::uint16_t place = slab.free.back();
  slab.free.pop_back();
  if (slab.free.empty()) rooms.erase(rooms.begin());
  slab.lengths[place] = static_cast<std::uint16_t>(bytes + 1);
  ++pieces_;
  return begin + place * place_bytes;
}

void Slabs::add(std::uint64_t begin, std::uint64_t place_bytes) {
  const auto places = static_cast<std::size_t>(kSlabBytes / place_bytes);
  Slab slab{place_bytes, std::vector<std::uint16_t>(places), std::vector<std::uint16_t>(places)};
  // In descending order, so that the lowest place is taken first.
  for (std::size_t i = 0; i < places; ++i) slab.free[i] = static_cast<std::uint16_t>(places - 1 - i);
  const bool is_new = slabs_.emplace(begin, std::move(slab)).second;
  MARGAY_ASSERT(is_new);
  with_room(place_bytes).insert(begin);
}

std::optional<std::uint64_t> Slabs::give_back(std::uint64_t position) {
  const auto found = std::prev(slabs_.upper_bound(position));
  Slab& slab = found->second;
  const auto place = static_cast<std::uint16_t>((position - found->first) / slab.place_bytes);
  MARGAY_ASSERT(found->first + place * slab.place_bytes == position && slab.lengths[place] != 0);
  slab.lengths[place] = 0;
  slab.free.push_back(place);
  --pieces_;
  std::set<std::uint64_t>& rooms = with_room(slab.place_bytes);
  rooms.insert(found->first);
  // The last slab with room stays, so that a program that repeatedly allocates and frees one piece does not allocate a
  // slab each time.
  if (slab.free.size() != slab.lengths.size() || rooms.size() == 1) return std::nullopt;
  const std::uint64_t begin = found->first;
  rooms.erase(begin);
  slabs_.erase(found);
  return begin;
}

// Called when the heap has no room. At most one slab of each length of places is empty, because give_back() returns
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
  const auto place = static_cast<std::size_t>((position - begin) / slab.place_bytes);
  if (slab.lengths[place] == 0) return std::nullopt;
  return Piece{begin + place * slab.place_bytes, slab.lengths[place] - std::uint64_t{1}};
}

}  // namespace margay::sim
