// A logically contiguous run of bytes that may lie in several pieces of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace margay::portals {

// One contiguous piece. The memory belongs to whoever made the Buffer.
struct Buffer {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
};

// A view: one piece held inside, or a table of pieces (owned by the caller, alive as long as the region is used) of
// which the first `skip` bytes do not belong. Trivially copyable. Bodies are read from regions and deposited in them.
class Region {
 public:
  Region() = default;
  // Requires: `buffer.base` valid for `buffer.bytes` while the region is in use.
  explicit Region(Buffer buffer) : single_(buffer), bytes_(buffer.bytes) {}
  Region(void* base, std::size_t bytes) : Region(Buffer{static_cast<std::byte*>(base), bytes}) {}
  // All of the table's pieces, in order.
  explicit Region(std::span<const Buffer> table);

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool contiguous() const { return table_ == nullptr; }
  // The one piece. Requires: contiguous().
  [[nodiscard]] Buffer single() const { return single_; }

  // The `length` bytes that begin `offset` bytes in. Requires: offset + length <= bytes(), checked without wrap.
  [[nodiscard]] Region slice(std::uint64_t offset, std::uint64_t length) const;

  friend class RegionCursor;

 private:
  Buffer single_{};
  const Buffer* table_ = nullptr;
  std::size_t count_ = 0;
  std::uint64_t skip_ = 0;
  std::uint64_t bytes_ = 0;
};

// Walks a region once from its beginning, so that a body which comes in parts costs no search per part.
class RegionCursor {
 public:
  RegionCursor() = default;
  explicit RegionCursor(const Region& region);

  [[nodiscard]] std::uint64_t left() const { return left_; }
  // Copies `source` to where the cursor stands and moves on. Requires: source.size() <= left().
  void write(std::span<const std::byte> source);
  // Copies from where the cursor stands into `target` and moves on. Requires: target.size() <= left().
  void read(std::span<std::byte> target);
  // The next contiguous piece, at most `limit` bytes; empty when nothing is left. Does not move.
  [[nodiscard]] Buffer peek(std::uint64_t limit) const;
  // Moves on by `bytes`. Requires: bytes <= left().
  void skip(std::uint64_t bytes);

 private:
  Region region_;
  std::size_t piece_ = 0;       // index in the table
  std::uint64_t in_piece_ = 0;  // bytes already passed there
  std::uint64_t left_ = 0;
};

// Copies all of `source` to the beginning of `target`. Requires: source.bytes() <= target.bytes().
void copy(const Region& target, const Region& source);

}  // namespace margay::portals
