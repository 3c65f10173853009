// The pieces of a target's memory that `count` elements of a datatype are: what an ask describes them by.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi_adi/device/pieces.hpp"
#include "mpi_adi/rma/ask.hpp"

namespace margay::mpi_adi {

class TargetPieces {
 public:
  // The type outlives it. Requires: count >= 0.
  TargetPieces(const Datatype& type, std::int64_t count) : cursor_(pieces_.to_send(nullptr, count, type)) {}
  // In `bytes` that follow each other.
  explicit TargetPieces(std::uint64_t bytes) : cursor_(portals::Region(nullptr, bytes)) {}

  [[nodiscard]] std::uint64_t left() const { return cursor_.left(); }
  // The next ones: at most `count` pieces and `limit` bytes. `bytes`: of all of them. Requires: left() != 0, limit !=
  // 0.
  [[nodiscard]] std::vector<Piece> take(std::uint32_t count, std::uint64_t limit, std::uint64_t& bytes) {
    std::vector<Piece> taken;
    bytes = 0;
    while (cursor_.left() != 0 && bytes < limit && taken.size() < count) {
      const portals::Buffer piece = cursor_.peek(limit - bytes);
      // From an address of 0: where it lies is how far from the first element.
      taken.push_back({static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(piece.base)), piece.bytes});
      bytes += piece.bytes;
      cursor_.skip(piece.bytes);
    }
    return taken;
  }
  // Requires: bytes <= left().
  void skip(std::uint64_t bytes) { cursor_.skip(bytes); }

 private:
  Pieces pieces_;
  portals::RegionCursor cursor_;
};

}  // namespace margay::mpi_adi
