// The memory that another rank of the node allocated, as this process maps it: by places that the owner told, without
// the owner, which may compute, sleep or be dead by then. What was mapped stays, and what was not can still be mapped:
// the file is open here.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <utility>

#include "portals/base/status.hpp"
#include "sim/machine/shared_heap.hpp"
#include "sim/machine/shared_range.hpp"

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

  // Where the place's first byte is. The pages of a place are mapped once, however often they are asked for, until as
  // many calls of unmap() came. Error: the place is not within the file, or the system refuses. Requires: is_open().
  [[nodiscard]] portals::Status map(const HeapPlace& place, std::byte*& out);
  // Requires: map() of the place, which this call undoes.
  void unmap(const HeapPlace& place);
  // Ranges of pages.
  [[nodiscard]] std::size_t mapped() const { return ranges_.size(); }

 private:
  struct Pages {
    std::uint64_t begin;
    std::uint64_t end;
    auto operator<=>(const Pages&) const = default;
  };
  struct Mapped {
    SharedRange range;
    std::uint64_t uses;
  };
  [[nodiscard]] static Pages pages_of(const HeapPlace& place);

  int descriptor_ = -1;
  pid_t process_ = 0;
  std::uint64_t bytes_ = 0;
  std::map<Pages, Mapped> ranges_;
};

}  // namespace margay::sim
