// Mappings of files and of anonymous memory, unmapped by their destructors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "portals/base/status.hpp"

namespace margay::sim {

// The owner of a mapping of a file's beginning, or of anonymous memory. Movable.
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

  // Maps the first `bytes` of a file, shared. Ranks of one process that map the same file have one mapping, which ends
  // with its last owner. The caller keeps the descriptor. Fails if the file is shorter, or with errno. Any thread.
  [[nodiscard]] static portals::Status map(int descriptor, std::uint64_t bytes, Mapping& out);
  // Maps private memory of zeros, which takes memory only where it is touched.
  [[nodiscard]] static portals::Status anonymous(std::uint64_t bytes, Mapping& out);
  // The mapped memory; empty when nothing is mapped.
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  // Empty: nothing is mapped.
  std::span<std::byte> bytes_;
};

// SharedRange, below, maps a part of a memfd: shared with the job, and private in a child of fork(). The job does not
// see the child's writes; pages that the child has not written still show the job's writes. Core dumps exclude a range,
// unless its user requests otherwise (madvise), because a dump would touch, and so allocate, all of a sparse file.
//
// The ranges of all ranks in an operating system's process are in one list. The list is a mutable global for two
// reasons: the functions of pthread_atfork, which make the ranges private, have no argument; and a child has the memory
// of all ranks of its parent, but not their threads. fork() waits until no thread is changing the list. A child that
// clone() or a raw system call makes runs none of these functions, so its ranges stay shared. If the operating system
// refuses so much private memory (strict overcommit), the child may only read. If even that is refused, or the program
// has closed the descriptor, the range is unmapped: an access ends the child, and never reaches the job.

// The size of a huge page, and the least size of a range or a piece that is aligned to huge pages.
inline constexpr std::uint64_t kHugePageBytes = std::uint64_t{2} << 20;
inline constexpr std::uint64_t kHugeMinBytes = 2 * kHugePageBytes;

// The owner of one range that is shared with the job (see above). Movable.
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
  // Unmaps the range, and removes it from the list.
  ~SharedRange();

  // Maps `bytes` at `offset` of the file. From kHugeMinBytes on, the address equals `offset` modulo the size of a huge
  // page, as huge pages require. Requires: `offset` and `bytes` are multiples of a page, and the range lies within the
  // file. The caller keeps the descriptor open while the range lives. The failure names bytes and errno.
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
