// The memory that another rank of the node allocated, as this process maps it: by places that the owner sent, without
// the owner's help, which may compute, sleep or be dead by then. Mapped memory stays, and other memory can still be
// mapped, because the file is open here.
//
// The arena is mapped in a few ranges, each at least as long as all before it, and not place by place: their number
// grows with the logarithm of the owner's allocations, however many windows there are (a process has 65530 mappings). A
// range takes addresses, and memory only where a place in it is touched. It stays until the end: memory that the owner
// frees is a hole in the file, even where it is mapped.
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

  // Opens the arena that the owner published, through /proc; the owner's process must be alive. A peer's values are
  // verified: fails when it has published none, when its file cannot be opened (another user's, another PID namespace),
  // or is not the sealed memfd, of this size, that is described.
  [[nodiscard]] static portals::Status open(const RankArea& owner, PeerHeap& out);
  // Whether open() has succeeded.
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

  // The address of a place's first byte. Fails when the place is not within the file, or the operating system refuses.
  // Requires: is_open().
  [[nodiscard]] portals::Status map(const HeapAddress& place, std::byte*& out);
  // Number of mapped ranges.
  [[nodiscard]] std::size_t mapped() const { return ranges_.size(); }

 private:
  struct Range {
    // Position in the file.
    std::uint64_t begin;
    SharedRange memory;
  };
  // Maps a range that covers the place; see the top of this file for its size.
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
