// The heap of another rank of the node, as this process maps it. The owner sends the position of a piece, and this
// process maps the piece without the owner's help. This process keeps the owner's file open, so it can map pieces while
// the owner computes or sleeps, and after the owner's end.
//
// The heap is not mapped piece by piece, but in a few ranges. Each range is at least as long as all earlier ones
// together. So the number of ranges grows with the logarithm of the heap's size, not with the number of windows; a
// process may have 65530 mappings by default. A range takes addresses; it takes memory only where a piece in it is
// touched. Ranges stay mapped, because memory that the owner frees becomes a hole in the file and takes no memory here
// either.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/machine/mapping.hpp"
#include "sim/machine/shared_heap.hpp"

namespace margay::sim {

// The mappings of one rank's heap. Owns the open file and the ranges. Movable.
class PeerHeap {
 public:
  PeerHeap() = default;
  PeerHeap(PeerHeap&& other) noexcept;
  PeerHeap& operator=(PeerHeap&& other) noexcept;
  PeerHeap(const PeerHeap&) = delete;
  PeerHeap& operator=(const PeerHeap&) = delete;
  // Unmaps all ranges, and closes the file.
  ~PeerHeap();

  // Opens, through /proc, the file that the owner published. Fails when the owner's process has ended or has published
  // no file, when the file cannot be opened (it belongs to another user, or the owner is in another PID namespace), and
  // when the file is not the sealed memfd of the published size and inode.
  [[nodiscard]] static portals::Status open(const RankArea& owner, PeerHeap& out);
  // Whether open() has succeeded.
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

  // Returns in `out` the address of the first byte of `address`. Maps a range around the address unless an existing
  // range covers it. Fails when the address is not within the file, in a child of fork(), and when the operating system
  // refuses the mapping. Requires: is_open().
  [[nodiscard]] portals::Status map(const HeapAddress& address, std::byte*& out);
  // The file's inode, by which it differs from that of a later process in the owner's place. Requires: is_open().
  [[nodiscard]] std::uint64_t file() const { return file_; }
  // Number of mapped ranges.
  [[nodiscard]] std::size_t mapped() const { return ranges_.size(); }

 private:
  struct Range {
    // Position in the file.
    std::uint64_t begin;
    SharedRange memory;
  };
  // Maps a range that covers the address, with the length described above. If the operating system refuses that, maps
  // only the pages of the address.
  [[nodiscard]] portals::Status map_around(const HeapAddress& address);
  [[nodiscard]] portals::Status map_range(std::uint64_t begin, std::uint64_t end);

  int descriptor_ = -1;
  std::uint64_t file_ = 0;
  // The process that opened the file; a forked child must not map it.
  pid_t process_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t mapped_bytes_ = 0;
  // In the order of mapping. Ranges may overlap.
  std::vector<Range> ranges_;
};

}  // namespace margay::sim
