// Free lists for a heap's short pieces. Short pieces lie in slabs. Each slab is cut into slots of one length, a power
// of two. The heap allocates whole pages for a slab, so a short piece costs its slot and no system call. This class
// works with positions only and touches no memory of the heap. Its records lie in private memory, where no peer can
// write.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sim/base/limits.hpp"

namespace margay::sim {

// The slabs of one heap. Used by SharedHeap only.
class Slabs {
 public:
  // The length of a slab, and of the longest piece that a slab can contain.
  static constexpr std::uint64_t kSlabBytes = std::uint64_t{64} << 10;
  static constexpr std::uint64_t kSlotBytesMax = std::uint64_t{16} << 10;

  // The length of the slots for pieces with this length and alignment (a power of two, up to a page). nullopt: the
  // piece is too long for a slab.
  [[nodiscard]] static std::optional<std::uint64_t> slot_bytes(std::uint64_t bytes, std::uint64_t alignment) {
    if (bytes > kSlotBytesMax) return std::nullopt;
    return std::bit_ceil(std::max({bytes, alignment, std::uint64_t{kCacheLineBytes}}));
  }

  // Takes a free slot for a piece of `bytes`, in the lowest slab that has one. nullopt: all slabs with slots of this
  // length are full; the heap add()s one. Requires: `slot_bytes` is the result of slot_bytes() for the piece.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t slot_bytes, std::uint64_t bytes);
  // Adds a slab of kSlabBytes at `begin`.
  void add(std::uint64_t begin, std::uint64_t slot_bytes);
  // Frees a slot. If its slab is then empty, and another slab with slots of the same length has room, removes and
  // returns the slab; the heap must free it. Requires: take() returned `position`.
  [[nodiscard]] std::optional<std::uint64_t> give_back(std::uint64_t position);
  // Removes and returns an empty slab, which the heap must free; nullopt: there is none.
  [[nodiscard]] std::optional<std::uint64_t> drop_empty();

  struct Piece {
    // Position of the piece's first byte.
    std::uint64_t begin;
    // As requested.
    std::uint64_t bytes;
  };
  // The piece in whose slot `position` lies; nullopt: there is none.
  [[nodiscard]] std::optional<Piece> find(std::uint64_t position) const;
  // Whether the heap's pages at `begin` are a slab.
  [[nodiscard]] bool is_slab(std::uint64_t begin) const { return slabs_.contains(begin); }
  // Numbers of pieces and of slabs in use.
  [[nodiscard]] std::size_t pieces() const { return pieces_; }
  [[nodiscard]] std::size_t slabs() const { return slabs_.size(); }

 private:
  // The number of lengths: one for each power of two from a cache line to kSlotBytesMax.
  static constexpr std::size_t kKinds = std::bit_width(kSlotBytesMax / kCacheLineBytes);
  // One slab's records.
  struct Slab {
    // Length of each slot; constant for the slab's life.
    std::uint64_t slot_bytes;
    // By slot: the length of its piece plus 1; 0: the slot is free.
    std::vector<std::uint16_t> lengths;
    // Indices of the free slots; the last one is taken next.
    std::vector<std::uint16_t> free;
  };
  static_assert(kSlotBytesMax < 0xffff && kSlabBytes / kCacheLineBytes <= 0xffff);
  // The positions of the slabs with slots of one length that have a free slot.
  [[nodiscard]] std::set<std::uint64_t>& with_room(std::uint64_t slot_bytes) {
    return with_room_[static_cast<std::size_t>(std::countr_zero(slot_bytes / kCacheLineBytes))];
  }

  std::map<std::uint64_t, Slab> slabs_;  // by position
  // By length of slots; see with_room().
  std::array<std::set<std::uint64_t>, kKinds> with_room_;
  // Places in use, over all slabs.
  std::size_t pieces_ = 0;
};

}  // namespace margay::sim
