// Mappings of files and of anonymous memory, unmapped by their destructors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "portals/base/status.hpp"

namespace margay::sim {

// The owner of a mapping of a whole file, or of anonymous memory. Movable.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  // Maps the first `bytes` of a file, shared. The descriptor stays the caller's. Fails when the file is shorter, or the
  // mapping is refused; the message has bytes and errno.
  [[nodiscard]] static portals::Status map(int descriptor, std::uint64_t bytes, Mapping& out);
  // Private memory of zeros, allocated when touched.
  [[nodiscard]] static portals::Status anonymous(std::uint64_t bytes, Mapping& out);
  // The mapped memory; empty when nothing is mapped.
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  // Empty: nothing is mapped.
  std::span<std::byte> bytes_;
};

// A part of a memfd mapped into memory: shared with the job, and private again in a child of fork(). The child's writes
// stay its own; pages that it has not written still show the job's writes. A range is excluded from core dumps, unless
// requested (madvise): a dump would touch, and so allocate, all of a sparse file.
//
// The ranges of the operating system's process are in one list, a mutable global: pthread_atfork's functions take no
// argument, and a child gets the memory of all ranks that lived in its parent, whose threads it cannot ask. A fork()
// waits until a thread that changes the list has finished. A child made by clone() or a raw system call, which runs
// none of these functions, is not handled. If the operating system refuses so much private memory (strict overcommit),
// the child may only read; where even that is refused, or the program has closed the descriptor, the range is unmapped:
// an access ends the child, and never reaches the job.

// The size of a huge page, and the least size for which a piece is aligned to them.
inline constexpr std::uint64_t kHugePageBytes = std::uint64_t{2} << 20;
inline constexpr std::uint64_t kHugeMinBytes = 2 * kHugePageBytes;

// The owner of one such range. Movable.
class SharedRange {
 public:
  SharedRange() = default;
  SharedRange(SharedRange&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  SharedRange& operator=(SharedRange&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  SharedRange(const SharedRange&) = delete;
  SharedRange& operator=(const SharedRange&) = delete;
  // Unmaps, and leaves the list of ranges.
  ~SharedRange();

  // Maps `bytes` at `offset` of the file. From kHugeMinBytes on, the address has the same distance to a huge page's
  // boundary as `offset`. Requires: whole pages, which the file has; the descriptor, the caller's, stays open while the
  // range lives. The failure names bytes and errno.
  [[nodiscard]] static portals::Status map(int descriptor, std::uint64_t offset, std::uint64_t bytes, SharedRange& out);
  // The mapped memory; nullptr when nothing is mapped.
  [[nodiscard]] std::byte* data() const { return base_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  // The key of this range in the list; nullptr: nothing is mapped.
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace margay::sim
