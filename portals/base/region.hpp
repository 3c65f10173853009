// A logically contiguous run of bytes that may lie in several pieces of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "portals/base/assert.hpp"

namespace margay::portals {

// A layout is a rule that computes the places of a region's bytes, for bytes in many small pieces: every other double
// of an array, the elements of an MPI datatype. A region refers to the layout and to a base address. Bytes are copied
// directly between their places and a wire, so no list of pieces is ever built.

struct Buffer;

// The interface of a layout. A layout is immutable while regions refer to it; any number of regions may share it. `at`
// is a position among the logically contiguous bytes. A layout does not store their number; the region does
// (Region::bytes). `base` may be null, because a layout may compute absolute addresses.
class Layout {
 public:
  // The longest known contiguous piece that begins at position `at`. Never empty.
  [[nodiscard]] virtual Buffer piece(std::byte* base, std::uint64_t at) const = 0;
  // Copies target.size() bytes from `at` on. Requires, as in scatter(): the region has these bytes.
  virtual void gather(const std::byte* base, std::uint64_t at, std::span<std::byte> target) const = 0;
  // Copies `source` to the places from `at` on. If places overlap, the last write stays.
  virtual void scatter(std::byte* base, std::uint64_t at, std::span<const std::byte> source) const = 0;

 protected:
  Layout() = default;
  Layout(const Layout&) = default;
  Layout& operator=(const Layout&) = default;
  Layout(Layout&&) = default;
  Layout& operator=(Layout&&) = default;
  ~Layout() = default;
};

// One contiguous piece. The memory belongs to the maker of the Buffer.
struct Buffer {
  // nullptr only when `bytes` is 0.
  std::byte* base = nullptr;
  std::size_t bytes = 0;
};

// A view of memory in one of three forms: one piece, held inside; a table of pieces; or a layout. The caller owns table
// and layout, which must live as long as the region is used. The first `skip_` bytes of a table or a layout do not
// belong to the region. Trivially copyable, 48 bytes. Bodies are read from regions and deposited in them.
class Region {
 public:
  Region() = default;
  // Requires: `buffer.base` valid for `buffer.bytes` while the region is in use.
  explicit Region(Buffer buffer) : single_(buffer), bytes_(buffer.bytes) {}
  // The same, for memory of any type.
  Region(void* base, std::size_t bytes) : Region(Buffer{static_cast<std::byte*>(base), bytes}) {}
  // All of the table's pieces, in order. Linear in the table's length, because the pieces' lengths are added once.
  explicit Region(std::span<const Buffer> table);
  // The first `bytes` of `layout` at `base`. Searches the first piece, once.
  Region(const Layout& layout, std::byte* base, std::uint64_t bytes);

  // Length in bytes, over all pieces.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // Whether the region is one piece. A table of one piece, or a layout whose first piece covers the region, is reduced
  // to that piece when the region is made.
  [[nodiscard]] bool contiguous() const { return pieces_ == nullptr; }
  // The one piece. Requires: contiguous().
  [[nodiscard]] Buffer single() const {
    MARGAY_DEBUG_ASSERT(contiguous());
    return single_;
  }

  // `length` bytes from position `offset` on. Requires: offset + length <= bytes(); the check cannot overflow. The
  // slice refers to the same memory, table or layout, and copies none of them. Constant time for one piece; linear in
  // the pieces before `offset` for a table; one search of the position for a layout.
  [[nodiscard]] Region slice(std::uint64_t offset, std::uint64_t length) const {
    require(offset <= bytes_ && length <= bytes_ - offset, "slice() past the region's end; compare with bytes() first");
    if (!contiguous()) return slice_pieces(offset, length);
    return length == 0 ? Region() : Region(Buffer{single_.base + offset, static_cast<std::size_t>(length)});
  }

  // Reads the representation, to walk pieces without slicing.
  friend class RegionCursor;

 private:
  // slice() of a region in pieces; a part that lies in one piece becomes contiguous.
  [[nodiscard, gnu::noinline]] Region slice_pieces(std::uint64_t offset, std::uint64_t length) const;
  // laid_out(): whether `pieces_` refers to a layout. table(), layout(): `pieces_` as its type.
  [[nodiscard]] bool laid_out() const { return pieces_ != nullptr && count_ == 0; }
  [[nodiscard]] const Buffer* table() const { return static_cast<const Buffer*>(pieces_); }
  [[nodiscard]] const Layout& layout() const { return *static_cast<const Layout*>(pieces_); }

  // Contiguous: the one piece. Layout: its base address. Table: not used.
  Buffer single_{};
  // A table of `count_` pieces; with count_ == 0 a Layout; nullptr: contiguous.
  const void* pieces_ = nullptr;
  std::size_t count_ = 0;
  // Bytes before the region's first one, in the first piece of a table or from the beginning of a layout.
  std::uint64_t skip_ = 0;
  std::uint64_t bytes_ = 0;
};
static_assert(std::is_trivially_copyable_v<Region>);

// A position in a region, which only moves forward. A body that arrives in parts is therefore written without a search
// per part, except over a layout. A move past the end ends the process with a message.
class RegionCursor {
 public:
  RegionCursor() = default;
  // At the region's beginning. Holds a copy of the region, so only the memory, the table and the layout must live.
  explicit RegionCursor(const Region& region);

  // Bytes between the cursor and the region's end.
  [[nodiscard]] std::uint64_t left() const { return left_; }
  // Copies `source` to the cursor's position and advances. Requires: source.size() <= left(). Over a layout, each of
  // write(), read() and peek() costs one search of the position.
  void write(std::span<const std::byte> source);
  // Copies from the cursor's position into `target` and advances. Requires: target.size() <= left().
  void read(std::span<std::byte> target);
  // The next contiguous piece, at most `limit` bytes; empty at the end. Does not advance. Valid as long as the region's
  // memory.
  [[nodiscard]] Buffer peek(std::uint64_t limit) const;
  // Advances by `bytes`. Requires: bytes <= left(). Costs no access to the memory.
  void skip(std::uint64_t bytes);

 private:
  Region region_;
  // Index of the current piece in the table; always 0 for one piece and for a layout.
  std::size_t piece_ = 0;
  // Bytes already passed in that piece; of a layout, from its beginning.
  std::uint64_t in_piece_ = 0;
  // Bytes from the cursor to the region's end; see left().
  std::uint64_t left_ = 0;
};

// memcpy for messages, most of which are short: up to 64 bytes by two moves that may overlap, without a call. The two
// ranges must not overlap each other.
inline void copy_bytes(std::byte* target, const std::byte* source, std::size_t bytes) {
  // Reads both ends before it writes either, so the compiler keeps them in registers.
  const auto both_ends = [&]<std::size_t Bytes>() {
    std::array<std::byte, Bytes> first, last;
    std::memcpy(first.data(), source, Bytes);
    std::memcpy(last.data(), source + bytes - Bytes, Bytes);
    std::memcpy(target, first.data(), Bytes);
    std::memcpy(target + bytes - Bytes, last.data(), Bytes);
  };
  // In this order, the likely class, 8 to 16 bytes, costs two tests.
  if (bytes > 16) {
    if (bytes > 64) {
      std::memcpy(target, source, bytes);
    } else if (bytes > 32) {
      both_ends.template operator()<32>();
    } else {
      both_ends.template operator()<16>();
    }
  } else if (bytes >= 8) [[likely]] {
    both_ends.template operator()<8>();
  } else if (bytes >= 4) {
    both_ends.template operator()<4>();
  } else {
    for (std::size_t i = 0; i < bytes; ++i) target[i] = source[i];
  }
}

// The slow path of copy(), for regions in pieces. Requires: source.bytes() <= target.bytes(). If both are in pieces,
// the bytes pass through a buffer of 8 KiB on the stack.
[[gnu::noinline]] void copy_pieces(const Region& target, const Region& source);

// Copies all of `source` to the beginning of `target`. Requires: source.bytes() <= target.bytes(), and no overlap.
inline void copy(const Region& target, const Region& source) {
  require(source.bytes() <= target.bytes(), "copy() into a region that is shorter than its source; slice() the source");
  if (target.contiguous() && source.contiguous()) [[likely]] {
    copy_bytes(target.single().base, source.single().base, static_cast<std::size_t>(source.bytes()));
  } else {
    copy_pieces(target, source);
  }
}

}  // namespace margay::portals
