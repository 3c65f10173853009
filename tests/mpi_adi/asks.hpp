// Asks of one-sided communication made by hand, and the memory of a window that they meet. For a unit test and a fuzz
// target, so without a test's macros.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "mpi_adi/rma/asked.hpp"

namespace margay::mpi_adi::test {

inline std::vector<std::byte> ask_body(AskHead head, std::span<const Piece> pieces = {},
                                       std::span<const std::byte> operands = {}) {
  head.pieces = static_cast<std::uint32_t>(pieces.size());
  std::vector<std::byte> body(sizeof head + pieces.size_bytes() + operands.size());
  std::memcpy(body.data(), &head, sizeof head);
  if (!pieces.empty()) std::memcpy(body.data() + sizeof head, pieces.data(), pieces.size_bytes());
  if (!operands.empty()) std::memcpy(body.data() + sizeof head + pieces.size_bytes(), operands.data(), operands.size());
  return body;
}

// A window's memory between bytes that nobody may touch: one piece, or attached pieces of which some touch each other.
class GuardedMemory {
 public:
  static constexpr std::size_t kBytes = 4096;
  static constexpr std::size_t kGuard = 512;

  explicit GuardedMemory(bool dynamic) : all_(kGuard + kBytes + kGuard, kUntouched) {
    if (!dynamic) {
      exposed_.expose(begin(), kBytes);
      return;
    }
    exposed_.make_dynamic();
    // The second of four is missing.
    for (const std::size_t quarter : {0U, 3U, 2U}) {
      static_cast<void>(exposed_.attach(begin() + quarter * (kBytes / 4), kBytes / 4));
    }
  }

  [[nodiscard]] const TargetMemory& exposed() const { return exposed_; }
  [[nodiscard]] std::byte* begin() { return all_.data() + kGuard; }
  // What an ask adds to its offset to mean the memory's beginning.
  [[nodiscard]] std::uint64_t origin() { return exposed_.dynamic() ? reinterpret_cast<std::uintptr_t>(begin()) : 0; }
  // Whether the bytes outside of the window are as they were.
  [[nodiscard]] bool is_intact() const {
    for (std::size_t at = 0; at < all_.size(); ++at) {
      const bool inside = at >= kGuard && at < kGuard + kBytes;
      const bool missing = exposed_.dynamic() && (at - kGuard) / (kBytes / 4) == 1;
      if ((!inside || missing) && all_[at] != kUntouched) return false;
    }
    return true;
  }

  // What the target does with an ask. False: it found memory that is not the window's.
  [[nodiscard]] bool meets(std::span<const std::byte> body, ConflictTable& announced) {
    const std::optional<Asked> asked = Asked::read(body);
    if (!asked) return true;
    std::vector<portals::Buffer> table;
    std::vector<std::byte> old;
    if (asked->find(exposed_, table) && !are_inside(table, asked->head().bytes)) return false;
    if (asked->head().what == Ask::announce) {
      if (const auto access = asked->announced()) static_cast<void>(announced.add(*access, asked->ranges()));
    } else {
      sim::AccumulateLock lock(lock_, 0, sim::HolderGone([](void*, std::uint32_t) { return false; }, nullptr));
      static_cast<void>(asked->combine(exposed_, table, old, lock));
    }
    return old.size() <= kOperandBytesOfAsk && is_intact();
  }

 private:
  static constexpr std::byte kUntouched{0x5a};

  [[nodiscard]] bool are_inside(std::span<const portals::Buffer> table, std::uint64_t bytes) {
    for (const portals::Buffer& piece : table) {
      if (piece.base < begin() || piece.base + piece.bytes > begin() + kBytes || piece.bytes > bytes) return false;
      bytes -= piece.bytes;
    }
    return bytes == 0;
  }

  std::vector<std::byte> all_;
  TargetMemory exposed_;
  sim::AccumulateLockData lock_;
};

}  // namespace margay::mpi_adi::test
