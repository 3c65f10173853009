// A file mapped into memory, shared; unmapped at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "portals/base/status.hpp"

namespace margay::sim {

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

  // The whole of `descriptor`'s file must hold `bytes`; the descriptor stays the caller's. Error: names bytes and
  // errno.
  [[nodiscard]] static portals::Status map(int descriptor, std::uint64_t bytes, Mapping& out);
  // Private memory of zeros that is taken when touched.
  [[nodiscard]] static portals::Status anonymous(std::uint64_t bytes, Mapping& out);
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

// Part of a memfd mapped into memory: shared with the job, and private again in a child of fork(). What the child
// writes stays the child's; pages that it has not written still show what the job writes. Nothing of a range is in a
// core dump, unless somebody asks for it (madvise): a dump would touch, and so allocate, all of a sparse file.
//
// The ranges of the operating system's process stand in one list, a mutable global: pthread_atfork's functions take no
// argument, and a child gets the memory of all ranks that lived in its parent, whose threads are not there to ask. A
// fork() waits until a thread that changes the list is done. Not seen: a child made by clone() or a raw system call,
// which runs none of these functions. Where a child finds that it cannot have so much private memory (strict
// overcommit) it may only read; where even that is refused, or the program has closed the descriptor, the range is
// gone: a child's access ends the child, and never reaches the job.

// Whether a piece is worth huge pages, and how it has to lie for them.
inline constexpr std::uint64_t kHugePageBytes = std::uint64_t{2} << 20;
inline constexpr std::uint64_t kHugeMinBytes = 2 * kHugePageBytes;

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
  ~SharedRange();

  // From kHugeMinBytes on, its address lies to huge pages as `offset` does. Requires: whole pages of the file, which
  // has them; the descriptor, the caller's, stays open while the range lives. Error: names bytes and errno.
  [[nodiscard]] static portals::Status map(int descriptor, std::uint64_t offset, std::uint64_t bytes, SharedRange& out);
  [[nodiscard]] std::byte* data() const { return base_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace margay::sim
