// Memory that a rank allocates for windows and MPI_Alloc_mem: of the heap that its node shares, or private where there
// is no heap, or no room in it. All of it is zero, and none of it is touched by being allocated, short pieces aside.
//
// Of more than kMemoryUncheckedBytes it is asked first whether the machine and the control groups have them, beside
// what the heap's pieces may still take. So memory that is not there is an error of the call that asks, and not a
// process that is killed where it touches. Memory that others take later is not foreseen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "portals/base/status.hpp"
#include "sim/machine/node_heap.hpp"

namespace margay::sim {

class RankMemory {
 public:
  // `heap`: outlives it; nullptr: the node shares none.
  explicit RankMemory(NodeHeap* heap) : heap_(heap) {}
  RankMemory(const RankMemory&) = delete;
  RankMemory& operator=(const RankMemory&) = delete;

  // `alignment`: a power of two. Error, `out` is nullptr: there is not so much, and the sentence says what limits.
  [[nodiscard]] portals::Status allocate(std::uint64_t bytes, std::uint64_t alignment, void*& out);
  // The same, of the heap alone. Error: there is none (see has_heap), or not so much.
  [[nodiscard]] portals::Status allocate_shared(std::uint64_t bytes, std::uint64_t alignment, void*& out);
  // Requires: `address` came from one of these and was not freed.
  void free(void* address);
  // After an allocation: whether this rank has a heap.
  [[nodiscard]] bool has_heap() const { return heap_ != nullptr && heap_->has_arena(); }

 private:
  [[nodiscard]] portals::Status check(std::uint64_t bytes) const;

  NodeHeap* heap_;
  // Long private pieces, by their address: pages of their own. What was never freed stays until the process ends.
  std::unordered_map<void*, std::span<std::byte>> mapped_;
};

}  // namespace margay::sim
