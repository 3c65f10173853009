// Packed bytes: the writer and the reader beneath `typer` (paper, 5.2).
//
// Rules of the format, which both classes keep:
//  1. A value of fixed size is its bytes in memory, unaligned: all nodes of a job run one program on one architecture.
//  2. A count is 32 bits and stands before its elements.
//  3. Elements that are copied as a whole begin at a multiple of their alignment, at most kPackedAlignment, from the
//     first packed byte, which the caller places at a multiple of it. So a method may use them where they lie.
//  4. Bytes skipped for alignment are zero.
//
// The classes have no part in the meaning of the bytes: value.hpp, containers.hpp and type.hpp decide what stands
// where. Both are small objects on the stack that own no memory. A program uses neither.
//
//   Packer packer(room);                            // room may be too small, or empty
//   pack(packer, value);
//   if (!packer.fits()) room = more(packer.size()); // then once more, with a new packer
//   Unpacker unpacker(bytes);
//   auto copy = unpack<T>(unpacker);
//   unpacker.finish();                              // throws if bytes are left
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "margay/rmi/error.hpp"

namespace margay::rmi {

// The alignment of a request, and so the largest that elements have inside one.
inline constexpr std::size_t kPackedAlignment = 8;

// How deep objects with define_type() may contain each other. Bounds the stack that unpacking takes: in a recursive
// class, such as a list whose nodes have a std::unique_ptr to the next one, the bytes decide about the depth.
inline constexpr int kNestingMax = 1000;

// `bytes` rounded up to a multiple of `alignment`, a power of two.
constexpr std::size_t round_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

// Appends packed values to a room. A room that is too small is not an error: the packer counts on without writing,
// so one pass either packs or returns the size that is needed. A size alone is the pass over an empty room.
//
// Once a value did not fit, the bytes in the room are of no use, also those before it; fits() says so. A packer belongs
// to one thread.
class Packer {
 public:
  // `room` stays the caller's, is aligned to kPackedAlignment and outlives the packer.
  explicit Packer(std::span<std::byte> room) : room_(room.data()), limit_(room.size()) {}

  // The next `bytes` bytes of the room, or null if they do not fit; counts them either way. The caller writes all of
  // them: the room is not cleared, and unwritten bytes would send what was in the memory before.
  [[nodiscard]] std::byte* take(std::size_t bytes) {
    const std::size_t at = position_;
    position_ += bytes;
    return position_ <= limit_ ? room_ + at : nullptr;
  }
  // Appends a copy of `bytes` bytes at `from`, which may be null if there are none.
  void put(const void* from, std::size_t bytes) {
    std::byte* to = take(bytes);
    if (to != nullptr && bytes != 0) std::memcpy(to, from, bytes);
  }
  // Appends a number of elements. Throws `error` if it has more than 32 bits.
  void put_count(std::size_t count) {
    if (count > std::numeric_limits<std::uint32_t>::max())
      fail("an argument has more than 4294967295 elements; send it in parts");
    const auto small = static_cast<std::uint32_t>(count);
    put(&small, sizeof small);
  }
  // Appends zero bytes up to a multiple of `alignment`, at most kPackedAlignment.
  void align(std::size_t alignment) {
    const std::size_t gap = round_up(position_, std::min(alignment, kPackedAlignment)) - position_;
    std::byte* to = take(gap);
    if (to != nullptr && gap != 0) std::memset(to, 0, gap);
  }

  // Around an object with define_type(). Throws `error` beyond kNestingMax; the packer is then of no more use.
  void enter() {
    if (++depth_ > kNestingMax) fail("objects of an argument contain each other more than 1000 deep; send a container");
  }
  void leave() { --depth_; }

  // The bytes packed so far, or that would have been.
  [[nodiscard]] std::size_t size() const { return position_; }
  // Whether all of them are in the room.
  [[nodiscard]] bool fits() const { return position_ <= limit_; }

 private:
  std::byte* room_;
  std::size_t limit_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

// Reads packed values. The bytes come from another node, so each read is checked: it never leaves the buffer, and a
// count is compared with the bytes that are left before anything is allocated. Throws `error` for bytes that a Packer
// cannot have written for this type; all messages begin with "damaged request". After an exception the unpacker is of
// no more use.
class Unpacker {
 public:
  // `bytes` stays the caller's and outlives the unpacker and all views that it returned.
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes.data()), limit_(bytes.size()) {}

  // The next `bytes` bytes, which stay in the buffer.
  [[nodiscard]] const std::byte* take(std::size_t bytes) {
    if (bytes > limit_ - position_) fail("damaged request: the packed arguments end early");
    const std::byte* at = bytes_ + position_;
    position_ += bytes;
    return at;
  }
  // A number of elements. `minimum`: the fewest bytes that one takes, at least 1. Throws `error` if the bytes that are
  // left cannot hold so many. So a caller may allocate room for as many: a damaged count cannot ask for gigabytes.
  [[nodiscard]] std::size_t take_count(std::size_t minimum) {
    std::uint32_t count = 0;
    std::memcpy(&count, take(sizeof count), sizeof count);
    if (count > left() / minimum) fail("damaged request: a count exceeds the packed arguments");
    return count;
  }
  // Skips bytes up to a multiple of `alignment`, as Packer::align() added them. Throws `error` if one is not zero.
  void align(std::size_t alignment) {
    const std::size_t gap = round_up(position_, std::min(alignment, kPackedAlignment)) - position_;
    const std::byte* at = take(gap);
    if (!std::all_of(at, at + gap, [](std::byte one) { return one == std::byte{0}; }))
      fail("damaged request: bytes between packed arguments are not zero");
  }
  // Around an object with define_type(). Throws `error` beyond kNestingMax; the unpacker is then of no more use.
  void enter() {
    if (++depth_ > kNestingMax) fail("damaged request: objects contain each other more than 1000 deep");
  }
  void leave() { --depth_; }
  // Throws `error` unless all bytes are read.
  void finish() const {
    if (position_ != limit_) fail("damaged request: bytes are left behind the packed arguments");
  }

  // The unread bytes.
  [[nodiscard]] std::size_t left() const { return limit_ - position_; }

 private:
  const std::byte* bytes_;
  std::size_t limit_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace margay::rmi
