#include "portals/memory/region.hpp"

#include <algorithm>
#include <cstring>

#include "portals/base/assert.hpp"

namespace margay::portals {

Region::Region(std::span<const Buffer> table) {
  for (const Buffer& piece : table) bytes_ += piece.bytes;
  if (table.size() == 1) {
    single_ = table[0];
  } else if (!table.empty()) {
    table_ = table.data();
    count_ = table.size();
  }
}

Region Region::slice_pieces(std::uint64_t offset, std::uint64_t length) const {
  if (length == 0) return {};
  std::uint64_t skip = skip_ + offset;
  std::size_t piece = 0;
  while (skip >= table_[piece].bytes) skip -= table_[piece++].bytes;
  if (length <= table_[piece].bytes - skip) return Region(Buffer{table_[piece].base + skip, length});
  Region part;
  part.table_ = table_ + piece;
  part.count_ = count_ - piece;
  part.skip_ = skip;
  part.bytes_ = length;
  return part;
}

RegionCursor::RegionCursor(const Region& region) : region_(region), left_(region.bytes_) {
  if (region_.contiguous()) return;
  in_piece_ = region_.skip_;
  while (left_ > 0 && in_piece_ >= region_.table_[piece_].bytes) in_piece_ -= region_.table_[piece_++].bytes;
}

Buffer RegionCursor::peek(std::uint64_t limit) const {
  if (left_ == 0 || limit == 0) return {};
  const Buffer& piece = region_.contiguous() ? region_.single_ : region_.table_[piece_];
  const std::uint64_t here = std::min(piece.bytes - in_piece_, left_);
  return {piece.base + in_piece_, std::min(here, limit)};
}

void RegionCursor::skip(std::uint64_t bytes) {
  MARGAY_ASSERT(bytes <= left_);
  left_ -= bytes;
  in_piece_ += bytes;
  if (region_.contiguous()) return;
  while (left_ > 0 && in_piece_ >= region_.table_[piece_].bytes) in_piece_ -= region_.table_[piece_++].bytes;
}

void RegionCursor::write(std::span<const std::byte> source) {
  MARGAY_ASSERT(source.size() <= left_);
  while (!source.empty()) {
    const Buffer here = peek(source.size());
    MARGAY_ASSERT(here.base != nullptr);
    std::memcpy(here.base, source.data(), here.bytes);
    source = source.subspan(here.bytes);
    skip(here.bytes);
  }
}

void RegionCursor::read(std::span<std::byte> target) {
  MARGAY_ASSERT(target.size() <= left_);
  while (!target.empty()) {
    const Buffer here = peek(target.size());
    MARGAY_ASSERT(here.base != nullptr);
    std::memcpy(target.data(), here.base, here.bytes);
    target = target.subspan(here.bytes);
    skip(here.bytes);
  }
}

void copy_pieces(const Region& target, const Region& source) {
  RegionCursor to(target);
  if (source.contiguous()) {
    to.write({source.single().base, source.bytes()});
    return;
  }
  RegionCursor from(source);
  while (from.left() > 0) {
    const Buffer piece = from.peek(from.left());
    to.write({piece.base, piece.bytes});
    from.skip(piece.bytes);
  }
}

}  // namespace margay::portals
