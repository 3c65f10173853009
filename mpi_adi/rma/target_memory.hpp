// The memory that a window exposes here: one piece, or, of a dynamic window, those that are attached; an access may
// span several that touch each other. Whoever writes or reads in an origin's name asks here first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "portals/base/region.hpp"

namespace margay::mpi_adi {

class TargetMemory {
 public:
  void expose(std::byte* base, std::uint64_t bytes) {
    base_ = base;
    bytes_ = bytes;
  }
  // Displacements are addresses, in pieces that come and go.
  void make_dynamic() { dynamic_ = true; }
  [[nodiscard]] bool dynamic() const { return dynamic_; }

  // False: a part of it is attached already.
  [[nodiscard]] bool attach(void* base, std::uint64_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(base);
    if (bytes == 0) {
      empty_.insert(begin);
      return true;
    }
    const auto next = pieces_.lower_bound(begin);
    if (next != pieces_.end() && next->first - begin < bytes) return false;
    if (next != pieces_.begin()) {
      const auto before = std::prev(next);
      if (begin - before->first < before->second) return false;
    }
    pieces_.emplace(begin, bytes);
    return true;
  }
  // By the address that was attached. False: there is none.
  [[nodiscard]] bool detach(const void* base) {
    const auto begin = reinterpret_cast<std::uintptr_t>(base);
    if (pieces_.erase(begin) != 0) return true;
    const auto empty = empty_.find(begin);
    if (empty == empty_.end()) return false;
    empty_.erase(empty);
    return true;
  }

  // The memory at `offset` (an address, of a dynamic window); nullptr: some of the bytes are outside.
  [[nodiscard]] std::byte* at(std::uint64_t offset, std::uint64_t bytes) const {
    if (!dynamic_) return offset <= bytes_ && bytes <= bytes_ - offset ? base_ + offset : nullptr;
    auto next = pieces_.upper_bound(offset);
    if (next == pieces_.begin()) return nullptr;
    const auto piece = std::prev(next);
    const std::uint64_t in = offset - piece->first;
    if (in > piece->second) return nullptr;
    for (std::uint64_t here = piece->second - in; bytes > here; ++next) {
      const std::uint64_t end = offset + here;
      if (next == pieces_.end() || next->first != end) return nullptr;
      here += next->second;
    }
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(offset));
  }

  [[nodiscard]] bool overlaps(portals::Buffer with) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(with.base);
    const auto meets = [&](std::uintptr_t from, std::uint64_t bytes) {
      return begin < from + bytes && from < begin + with.bytes;
    };
    if (!dynamic_) return meets(reinterpret_cast<std::uintptr_t>(base_), bytes_);
    return std::ranges::any_of(pieces_, [&](const auto& piece) { return meets(piece.first, piece.second); });
  }

 private:
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  bool dynamic_ = false;
  std::map<std::uintptr_t, std::uint64_t> pieces_;
  std::multiset<std::uintptr_t> empty_;  // attached with 0 bytes
};

}  // namespace margay::mpi_adi
