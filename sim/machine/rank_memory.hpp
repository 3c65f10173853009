// The memory that a rank allocates for windows and MPI_Alloc_mem: from the heap that its node shares, or private if
// there is no heap or no room in it. All of this memory is zero at first. An allocation touches only short pieces.
//
// An allocation above kMemoryUncheckedBytes first checks that the machine and the control groups have enough memory for
// it and for the untouched pieces of this rank's heap. So a lack of memory is an error of the call; without the check,
// the process would be killed later, when it touches the memory. The check does not consider memory that other
// processes take later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "portals/base/status.hpp"
#include "sim/machine/node_heap.hpp"

namespace margay::sim {

// The allocator of one rank. Used under the process lock.
class RankMemory {
 public:
  // `heap` outlives this object; nullptr: the node has no shared memory.
  explicit RankMemory(NodeHeap* heap) : heap_(heap) {}
  RankMemory(const RankMemory&) = delete;
  RankMemory& operator=(const RankMemory&) = delete;

  // Allocates from the heap, or privately. `alignment`: a power of two. Fails, with `out` nullptr, when there is too
  // little memory; the message names the limit.
  [[nodiscard]] portals::Status allocate(std::uint64_t bytes, std::uint64_t alignment, void*& out);
  // The same, from the heap only. Fails also when there is no heap (see has_heap).
  [[nodiscard]] portals::Status allocate_shared(std::uint64_t bytes, std::uint64_t alignment, void*& out);
  // Frees a piece. Requires: `address` came from one of these functions, and has not been freed.
  void free(void* address);
  // Whether this rank has a heap. Valid after an allocation.
  [[nodiscard]] bool has_heap() const { return heap_ != nullptr && heap_->has_arena(); }

 private:
  // Fails when the machine or a control group has less memory than `bytes`, and names the limit.
  [[nodiscard]] portals::Status check(std::uint64_t bytes) const;

  // nullptr: every piece is private.
  NodeHeap* heap_;
  // Long private pieces, which have pages of their own, by address. Pieces that are never freed stay until the process
  // ends.
  std::unordered_map<void*, std::span<std::byte>> mapped_;
};

}  // namespace margay::sim
