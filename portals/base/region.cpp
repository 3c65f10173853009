#include "portals/base/region.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "portals/base/assert.hpp"

namespace margay::portals {

namespace {

// The intermediate buffer fits in the first-level cache beside the memory that is read and written.
constexpr std::size_t kBothInPiecesBytes = 8192;
constexpr const char* kBehindEnd = "a cursor is moved past its region's end; compare with left() first";

}  // namespace

Region::Region(std::span<const Buffer> table) {
  // A table of one piece becomes a contiguous region, so that every later use takes the fast path.
  for (const Buffer& piece : table) bytes_ += piece.bytes;
  if (table.size() == 1) {
    single_ = table[0];
  } else if (!table.empty()) {
    pieces_ = table.data();
    count_ = table.size();
  }
}

Region::Region(const Layout& layout, std::byte* base, std::uint64_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  // A layout whose first piece covers the whole length needs no layout.
  const Buffer first = layout.piece(base, 0);
  if (bytes <= first.bytes) {
    single_ = {first.base, static_cast<std::size_t>(bytes)};
  } else {
    single_.base = base;
    pieces_ = &layout;
  }
}

Region Region::slice_pieces(std::uint64_t offset, std::uint64_t length) const {
  // An empty slice at the very end would search past the last piece.
  if (length == 0) return {};
  std::uint64_t skip = skip_ + offset;
  if (laid_out()) {
    const Buffer first = layout().piece(single_.base, skip);
    if (length <= first.bytes) return Region(Buffer{first.base, static_cast<std::size_t>(length)});
    Region part = *this;
    part.skip_ = skip;
    part.bytes_ = length;
    return part;
  }
  // Linear in the pieces that precede the offset. Bodies in parts avoid it with a cursor.
  std::size_t piece = 0;
  while (skip >= table()[piece].bytes) skip -= table()[piece++].bytes;
  if (length <= table()[piece].bytes - skip) return Region(Buffer{table()[piece].base + skip, length});
  Region part;
  // The slice begins at the piece of its first byte, so later searches in it do not pass the earlier ones again.
  part.pieces_ = table() + piece;
  part.count_ = count_ - piece;
  part.skip_ = skip;
  part.bytes_ = length;
  return part;
}

RegionCursor::RegionCursor(const Region& region) : region_(region), left_(region.bytes_) {
  if (region_.contiguous()) return;
  in_piece_ = region_.skip_;
  if (region_.laid_out()) return;
  // Passes over empty pieces too, so the cursor stands in a piece with a byte left, or at the end.
  while (left_ > 0 && in_piece_ >= region_.table()[piece_].bytes) in_piece_ -= region_.table()[piece_++].bytes;
}

Buffer RegionCursor::peek(std::uint64_t limit) const {
  if (left_ == 0 || limit == 0) return {};
  if (region_.laid_out()) {
    const Buffer piece = region_.layout().piece(region_.single_.base, in_piece_);
    return {piece.base, static_cast<std::size_t>(std::min({std::uint64_t{piece.bytes}, left_, limit}))};
  }
  const Buffer& piece = region_.contiguous() ? region_.single_ : region_.table()[piece_];
  const std::uint64_t here = std::min(piece.bytes - in_piece_, left_);
  return {piece.base + in_piece_, std::min(here, limit)};
}

// Leaves the cursor in a piece with a byte left, or at the end.
void RegionCursor::skip(std::uint64_t bytes) {
  require(bytes <= left_, kBehindEnd);
  left_ -= bytes;
  in_piece_ += bytes;
  if (region_.contiguous() || region_.laid_out()) return;
  while (left_ > 0 && in_piece_ >= region_.table()[piece_].bytes) in_piece_ -= region_.table()[piece_++].bytes;
}

void RegionCursor::write(std::span<const std::byte> source) {
  require(source.size() <= left_, kBehindEnd);
  if (region_.laid_out()) {
    if (!source.empty()) region_.layout().scatter(region_.single_.base, in_piece_, source);
    return skip(source.size());
  }
  while (!source.empty()) {
    const Buffer here = peek(source.size());
    MARGAY_ASSERT(here.base != nullptr);
    std::memcpy(here.base, source.data(), here.bytes);
    source = source.subspan(here.bytes);
    skip(here.bytes);
  }
}

void RegionCursor::read(std::span<std::byte> target) {
  require(target.size() <= left_, kBehindEnd);
  // The layout copies all its small pieces in one call; peek() would search the position for each of them.
  if (region_.laid_out()) {
    if (!target.empty()) region_.layout().gather(region_.single_.base, in_piece_, target);
    return skip(target.size());
  }
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
  // A contiguous side needs no intermediate buffer, because the other side's cursor copies straight into it.
  RegionCursor from(source);
  if (target.contiguous()) {
    from.read({target.single().base, static_cast<std::size_t>(source.bytes())});
    return;
  }
  // Pieces on both sides may be a few bytes each. The copy goes through a small buffer, so that each side is searched
  // once per 8 KiB and not once per piece.
  std::array<std::byte, kBothInPiecesBytes> some;
  while (from.left() > 0) {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(from.left(), some.size()));
    from.read({some.data(), bytes});
    to.write({some.data(), bytes});
  }
}

}  // namespace margay::portals
