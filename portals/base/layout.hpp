// Where the bytes of a region lie, when a rule says it and neither one piece nor a table: every other double of an
// array, the elements of an MPI datatype. A region refers to the rule and to the memory that it begins at; bytes move
// between there and a wire as they are wanted, and nothing is written down for each piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace margay::portals {

struct Buffer;

// Constant while regions refer to it, and any number may. `at` counts the logically contiguous bytes; who asks knows
// how many there are (Region::bytes). `base` may be null: the places may be absolute addresses.
class Layout {
 public:
  // The longest contiguous piece known that begins `at` bytes in. Never empty.
  [[nodiscard]] virtual Buffer piece(std::byte* base, std::uint64_t at) const = 0;
  // Copies target.size() bytes from `at` on.
  virtual void gather(const std::byte* base, std::uint64_t at, std::span<std::byte> target) const = 0;
  // Copies `source` to the places from `at` on. Where places overlap, the last write stays.
  virtual void scatter(std::byte* base, std::uint64_t at, std::span<const std::byte> source) const = 0;

 protected:
  Layout() = default;
  Layout(const Layout&) = default;
  Layout& operator=(const Layout&) = default;
  Layout(Layout&&) = default;
  Layout& operator=(Layout&&) = default;
  ~Layout() = default;
};

}  // namespace margay::portals
