// Data that lies in pieces of others' memory: a table of them, one behind the other.
#pragma once

#include <vector>

#include "portals/base/region.hpp"

namespace margay::collectives {

class PieceTable {
 public:
  // What lies right behind the last piece becomes part of it.
  void add(portals::Buffer piece) {
    if (piece.bytes == 0) return;
    if (!pieces_.empty() && pieces_.back().base + pieces_.back().bytes == piece.base) {
      pieces_.back().bytes += piece.bytes;
    } else {
      pieces_.push_back(piece);
    }
  }
  void add(const portals::Region& region) {
    portals::RegionCursor cursor(region);
    while (cursor.left() != 0) {
      const portals::Buffer piece = cursor.peek(cursor.left());
      add(piece);
      cursor.skip(piece.bytes);
    }
  }
  // Valid while the table is there, and nothing is added.
  [[nodiscard]] portals::Region region() const { return portals::Region(std::span(pieces_)); }

 private:
  std::vector<portals::Buffer> pieces_;
};

}  // namespace margay::collectives
