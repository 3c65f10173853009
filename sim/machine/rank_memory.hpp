// The memory that a rank allocates for windows and MPI_Alloc_mem: from the heap that its node shares, or private where
// there is no heap, or no room in it. All of it is zero, and allocation touches none of it, except short pieces.
//
// An allocation above kMemoryUncheckedBytes first checks that the machine and the control groups have the memory,
// beside what the heap's pieces may still take. So a lack of memory is an error of the call, and not a process that is
// killed when it touches the memory. Memory that other processes take later is not foreseen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "portals/base/status.hpp"
#include "sim/machine/node_heap.hpp"

namespace margay::sim {

// Used under the process lock.
class RankMemory {
 public:
  // `heap` outlives it; nullptr: the node shares none.
  explicit RankMemory(NodeHeap* heap) : heap_(heap) {}
  RankMemory(const RankMemory&) = delete;
  RankMemory& operator=(const RankMemory&) = delete;

  // Allocates from the heap, or privately. `alignment`: a power of two. Fails, with `out` nullptr, when there is not so
  // much; the message names the limit.
  [[nodiscard]] portals::Status allocate(std::uint64_t bytes, std::uint64_t alignment, void*& out);
  // The same, from the heap only. Fails when there is none (see has_heap), or not so much.
  [[nodiscard]] portals::Status allocate_shared(std::uint64_t bytes, std::uint64_t alignment, void*& out);
  // Frees a piece. Requires: `address` came from one of these and has not been freed.
  void free(void* address);
  // Whether this rank has a heap. Valid after an allocation.
  [[nodiscard]] bool has_heap() const { return heap_ != nullptr && heap_->has_arena(); }

 private:
  // Fails when the machine or a control group has less memory than `bytes`, and names the limit.
  [[nodiscard]] portals::Status check(std::uint64_t bytes) const;

  // nullptr: every piece is private.
  NodeHeap* heap_;
  // Long private pieces, by their address, with pages of their own. Pieces that are never freed stay until the process
  // ends.
  std::unordered_map<void*, std::span<std::byte>> mapped_;
};

}  // namespace margay::sim
