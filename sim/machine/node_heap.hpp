// The memory that the ranks of a node allocate for each other, as one rank sees it: its own heap (shared_heap), and the
// heaps of other ranks as far as it has mapped them (peer_heap).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/peer_heap.hpp"
#include "sim/machine/shared_heap.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim {

// One rank's own heap, and its mappings of the other ranks' heaps. Owned by Process. Used under the process lock. The
// layer above sends places (HeapAddress) to peers; NodeHeap sends nothing.
class NodeHeap {
 public:
  // The layout's segment outlives it. `local_rank`: this rank's index on the node.
  NodeHeap(const ShmLayout& layout, std::uint32_t local_rank, const HeapOptions& options = {})
      : layout_(layout), local_rank_(local_rank), own_(options), peers_(layout.ranks()) {}

  // As SharedHeap::allocate(). Afterwards peers can map the memory.
  [[nodiscard]] portals::Status allocate(std::uint64_t bytes, void*& out, std::uint64_t alignment) {
    portals::Status status = own_.allocate(bytes, out, alignment);
    if (status.ok()) own_.publish(layout_.area(local_rank_));
    return status;
  }
  // Frees a piece of this rank's heap.
  void free(void* address) { own_.free(address); }
  // Whether allocate() returned this address, and it has not been freed.
  [[nodiscard]] bool owns(const void* address) const { return own_.owns(address); }
  // The address of a range of this rank's heap, for a peer; nullopt if the range is empty or does not lie in one piece.
  [[nodiscard]] std::optional<HeapAddress> find(const void* address, std::uint64_t bytes) const {
    return bytes == 0 ? std::nullopt : own_.find(address, bytes);
  }

  // Whether this rank has an arena, that is, has allocated something.
  [[nodiscard]] bool has_arena() const { return own_.arena_bytes() != 0; }
  // Memory that this rank's pieces may still take when they are touched.
  [[nodiscard]] std::uint64_t untouched_bytes() const { return own_.untouched_bytes(); }

  // Finds the address, in this process, of a address in a rank's heap, and maps the address if necessary. Fails if this
  // process cannot map the address; other processes may be able to.
  [[nodiscard]] portals::Status map(std::uint32_t local_rank, const HeapAddress& address, std::byte*& out) {
    PeerHeap& peer = peers_[local_rank];
    // Another process may have got the owner's place.
    if (peer.is_open() && peer.file() != layout_.area(local_rank).heap_file) peer = PeerHeap();
    if (!peer.is_open()) {
      if (portals::Status status = PeerHeap::open(layout_.area(local_rank), peer); !status.ok()) return status;
    }
    return peer.map(address, out);
  }
  // Whether this process has opened a rank's arena. If it has and map() fails, this process lacks addresses.
  [[nodiscard]] bool is_open(std::uint32_t local_rank) const { return peers_[local_rank].is_open(); }

 private:
  // The segment in which owners publish their arenas.
  ShmLayout layout_;
  // This rank's index on the node.
  std::uint32_t local_rank_;
  // Allocates nothing from the system before the first allocation.
  SharedHeap own_;
  // By local rank, opened at their first use.
  std::vector<PeerHeap> peers_;
};

}  // namespace margay::sim
