// The memory that a window exposes in this process: one piece, or the attached pieces of a dynamic window. An access
// may span several pieces that touch. Each function that reads or writes for an origin looks up the address here first,
// so a number from a wire never leads outside of the window.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "portals/base/region.hpp"

namespace margay::mpi_adi {

// The exposed memory of one window (Window::memory). This object does not own the memory. Under the process lock. A
// look-up in a dynamic window is logarithmic in the number of pieces, and linear in the number of pieces that the
// access spans.
class TargetMemory {
 public:
  // Sets the memory of a window that is not dynamic. `bytes` may be 0, and `base` then nullptr. The memory must stay
  // valid while other members may access the window.
  void expose(std::byte* base, std::uint64_t bytes) {
    base_ = base;
    bytes_ = bytes;
  }
  // Makes the window dynamic: displacements are addresses, in pieces that the program attaches and detaches (MPI 4.0,
  // 12.2.4). Called when the window is made, before any access to it.
  void make_dynamic() { dynamic_ = true; }
  [[nodiscard]] bool dynamic() const { return dynamic_; }

  // Attaches a piece. False: a part of it is attached already, and nothing changes (MPI_ERR_RMA_ATTACH). A piece of 0
  // bytes may be attached several times.
  [[nodiscard]] bool attach(void* base, std::uint64_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(base);
    if (bytes == 0) {
      // Kept apart, because an empty piece overlaps nothing, and no access finds it.
      empty_.insert(begin);
      return true;
    }
    // Attached pieces never overlap, so only the neighbours are compared.
    const auto next = pieces_.lower_bound(begin);
    // The next piece begins inside this one.
    if (next != pieces_.end() && next->first - begin < bytes) return false;
    if (next != pieces_.begin()) {
      const auto before = std::prev(next);
      // The previous piece reaches into this one.
      if (begin - before->first < before->second) return false;
    }
    pieces_.emplace(begin, bytes);
    return true;
  }
  // Detaches the piece that begins at this address. False: there is none (MPI_ERR_RMA_ATTACH).
  [[nodiscard]] bool detach(const void* base) {
    const auto begin = reinterpret_cast<std::uintptr_t>(base);
    if (pieces_.erase(begin) != 0) return true;
    // One of several equal pieces is detached at a time.
    const auto empty = empty_.find(begin);
    if (empty == empty_.end()) return false;
    empty_.erase(empty);
    return true;
  }

  // The memory at `offset` (in a dynamic window, an address), or nullptr if some of the bytes are outside.
  [[nodiscard]] std::byte* at(std::uint64_t offset, std::uint64_t bytes) const {
    // Two comparisons instead of a sum, which could wrap round.
    if (!dynamic_) return offset <= bytes_ && bytes <= bytes_ - offset ? base_ + offset : nullptr;
    auto next = pieces_.upper_bound(offset);
    if (next == pieces_.begin()) return nullptr;
    const auto piece = std::prev(next);
    const std::uint64_t in = offset - piece->first;
    // Not >=, because an access of 0 bytes may begin right behind a piece.
    if (in > piece->second) return nullptr;
    // Pieces that touch count as one: an access may span several.
    for (std::uint64_t here = piece->second - in; bytes > here; ++next) {
      const std::uint64_t end = offset + here;
      if (next == pieces_.end() || next->first != end) return nullptr;
      here += next->second;
    }
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(offset));
  }

  // Whether some of the bytes belong to the window: another origin may then write them at any moment
  // (Rma::others_may_write). Linear in the pieces of a dynamic window.
  [[nodiscard]] bool overlaps(portals::Buffer with) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(with.base);
    // Half-open ranges that share a byte.
    const auto meets = [&](std::uintptr_t from, std::uint64_t bytes) {
      return begin < from + bytes && from < begin + with.bytes;
    };
    if (!dynamic_) return meets(reinterpret_cast<std::uintptr_t>(base_), bytes_);
    return std::ranges::any_of(pieces_, [&](const auto& piece) { return meets(piece.first, piece.second); });
  }

 private:
  // The memory of a window that is not dynamic; otherwise unused.
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  bool dynamic_ = false;
  // The memory of a dynamic window; otherwise empty.
  std::map<std::uintptr_t, std::uint64_t> pieces_;  // bytes by address; they do not overlap
  std::multiset<std::uintptr_t> empty_;             // pieces of 0 bytes, which may be attached several times
};

}  // namespace margay::mpi_adi
