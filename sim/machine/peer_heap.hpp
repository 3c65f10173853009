// The memory that another rank of the node allocated, as this process maps it: by places that the owner told, without
// the owner, which may compute, sleep or be dead by then. What was mapped stays, and what was not can still be mapped:
// the file is open here.
//
// The arena is mapped in a few ranges, each at least as long as all before it, and not place by place: their number
// grows with the logarithm of what the owner allocates, however many windows there are (a process has 65530 mappings).
// A range takes addresses, and memory only where a place in it is touched. It stays until the end: freed memory of the
// owner's is a hole in the file, whoever has it mapped.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/machine/mapping.hpp"
#include "sim/machine/shared_heap.hpp"

namespace margay::sim {

class PeerHeap {
 public:
  PeerHeap() = default;
  PeerHeap(PeerHeap&& other) noexcept;
  PeerHeap& operator=(PeerHeap&& other) noexcept;
  PeerHeap(const PeerHeap&) = delete;
  PeerHeap& operator=(const PeerHeap&) = delete;
  // Unmaps all that is mapped.
  ~PeerHeap();

  // Opens the arena that the owner told of, through /proc; the owner's process has to be there. Nothing that a peer
  // writes is believed: error when it told of none, when its file cannot be opened (another user's, another PID
  // namespace), or is not the sealed memfd, of this size, that it says.
  [[nodiscard]] static portals::Status open(const RankArea& owner, PeerHeap& out);
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

  // Where the place's first byte is. Error: the place is not within the file, or the system refuses. Requires:
  // is_open().
  [[nodiscard]] portals::Status map(const HeapPlace& place, std::byte*& out);
  // Ranges.
  [[nodiscard]] std::size_t mapped() const { return ranges_.size(); }

 private:
  struct Range {
    std::uint64_t begin;  // in the file
    SharedRange memory;
  };
  [[nodiscard]] portals::Status map_around(const HeapPlace& place);
  [[nodiscard]] portals::Status map_range(std::uint64_t begin, std::uint64_t end);

  int descriptor_ = -1;
  pid_t process_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t mapped_bytes_ = 0;
  std::vector<Range> ranges_;  // may overlap
};

}  // namespace margay::sim
