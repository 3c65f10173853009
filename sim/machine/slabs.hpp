// Free lists for a heap's small allocations. They lie in slabs, each cut into places of one length, a power of two; a
// heap allocates whole pages for a slab, so a short piece costs its place and no system call. Positions only: no memory
// is touched here, and the books lie in private memory, where no peer can write.
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

class Slabs {
 public:
  static constexpr std::uint64_t kSlabBytes = std::uint64_t{64} << 10;
  static constexpr std::uint64_t kPlaceBytesMax = std::uint64_t{16} << 10;

  // The places that pieces of this length and alignment (a power of two, up to a page) lie in. nullopt: the piece is
  // not short.
  [[nodiscard]] static std::optional<std::uint64_t> place_bytes(std::uint64_t bytes, std::uint64_t alignment) {
    if (bytes > kPlaceBytesMax) return std::nullopt;
    return std::bit_ceil(std::max({bytes, alignment, std::uint64_t{kCacheLineBytes}}));
  }

  // A free place for a piece of `bytes`, the lowest slab's. nullopt: all slabs of such places are full; add() one.
  // Requires: place_bytes() of the piece.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t place_bytes, std::uint64_t bytes);
  // `begin`: of kSlabBytes, which are the books' from now on.
  void add(std::uint64_t begin, std::uint64_t place_bytes);
  // Requires: take() returned it. The slab, if it is empty and another one of its kind has room: it is the heap's
  // again.
  [[nodiscard]] std::optional<std::uint64_t> give_back(std::uint64_t position);
  // An empty slab, if there is one: it is the heap's again.
  [[nodiscard]] std::optional<std::uint64_t> drop_empty();

  struct Piece {
    std::uint64_t begin;
    std::uint64_t bytes;  // as asked for
  };
  // The piece whose place a position is in.
  [[nodiscard]] std::optional<Piece> find(std::uint64_t position) const;
  [[nodiscard]] bool is_slab(std::uint64_t begin) const { return slabs_.contains(begin); }
  [[nodiscard]] std::size_t pieces() const { return pieces_; }
  [[nodiscard]] std::size_t slabs() const { return slabs_.size(); }

 private:
  static constexpr std::size_t kKinds = std::bit_width(kPlaceBytesMax / kCacheLineBytes);
  struct Slab {
    std::uint64_t place_bytes;
    std::vector<std::uint16_t> lengths;  // of each place: the piece's bytes plus 1; 0: it is free
    std::vector<std::uint16_t> free;     // places
  };
  static_assert(kPlaceBytesMax < 0xffff && kSlabBytes / kCacheLineBytes <= 0xffff);
  // The slabs of one length of places that have a free one.
  [[nodiscard]] std::set<std::uint64_t>& with_room(std::uint64_t place_bytes) {
    return with_room_[static_cast<std::size_t>(std::countr_zero(place_bytes / kCacheLineBytes))];
  }

  std::map<std::uint64_t, Slab> slabs_;  // by position
  std::array<std::set<std::uint64_t>, kKinds> with_room_;
  std::size_t pieces_ = 0;
};

}  // namespace margay::sim
