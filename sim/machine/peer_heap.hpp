// The heap of another rank of the node, as this process maps it. The owner sends the position of a piece; this process
// maps it without the owner's help. It keeps the owner's file open, so it can map pieces even while the owner computes
// or sleeps, and after the owner's end.
//
// The heap is mapped in a few ranges, each at least as long as all before it together, and not piece by piece. So the
// number of ranges grows with the logarithm of the heap's size, not with the number of windows (a
// process has at most 65530 mappings by default). A range takes addresses, and memory only where a piece in it is
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

// Owns the open file and its ranges. Movable.
class PeerHeap {
 public:
  PeerHeap() = default;
  PeerHeap(PeerHeap&& other) noexcept;
  PeerHeap& operator=(PeerHeap&& other) noexcept;
  PeerHeap(const PeerHeap&) = delete;
  PeerHeap& operator=(const PeerHeap&) = delete;
  // Unmaps all ranges, and closes the file.
  ~PeerHeap();

  // Opens the file that the owner published, through /proc; the owner's process must be alive. Fails when the owner has
  // published none, when the file cannot be opened (another user's, another PID namespace), and when it is not the
  // sealed memfd of the published size and inode.
  [[nodiscard]] static portals::Status open(const RankArea& owner, PeerHeap& out);
  // Whether open() has succeeded.
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

  // Returns in `out` the address of a piece's first byte; maps a range around the piece unless one covers it. Fails
  // when the piece is not within the file, in a child of fork(), and when the operating system refuses. Requires:
  // is_open().
  [[nodiscard]] portals::Status map(const HeapAddress& place, std::byte*& out);
  // Number of mapped ranges.
  [[nodiscard]] std::size_t mapped() const { return ranges_.size(); }

 private:
  struct Range {
    // Position in the file.
    std::uint64_t begin;
    SharedRange memory;
  };
  // Maps a range that covers the place, of the length described above; if that is refused, the place's own pages.
  [[nodiscard]] portals::Status map_around(const HeapAddress& place);
  [[nodiscard]] portals::Status map_range(std::uint64_t begin, std::uint64_t end);

  int descriptor_ = -1;
  // The process that opened it; a forked child must not map.
  pid_t process_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t mapped_bytes_ = 0;
  // In the order of mapping; they may overlap.
  std::vector<Range> ranges_;
};

}  // namespace margay::sim
