// A heap of memory that a rank allocates for its node: for windows, and for MPI_Alloc_mem.
//
// Each rank that allocates has an arena of its own, a memfd: sparse, sealed against shrinking and growing; its size
// bounds addresses and not memory. Boost.Interprocess divides it, by best fit and with positions instead of addresses.
// Only its owner allocates, under its process lock, so there is no lock in shared memory that a dead process could
// hold. Peers map the places that the owner has sent (peer_heap), and need nothing of the owner then.
//
//   arena: Boost's own | block | block ...        block: a page of Boost's own | a piece of whole pages
//
// 1. Boost counts in pages (its alignment is one), so every block, free or not, is whole pages, and Boost writes only
//    in the first of them. A piece of 16 KiB or less lies with others in a slab, a block of 64 KiB whose records are
//    private (slabs): it costs its place there. Longer ones have blocks of their own.
// 2. From kHugeMinBytes on a piece begins at a huge page's boundary, and huge pages are advised. Its block is longer by
//    that: addresses, not memory.
// 3. Pages of a free block, except its first, are holes in the file: the memory of a freed block returns to the system
//    at once. A peer that touches a freed piece fills them again, so a piece is also emptied when allocated. Allocated
//    memory is zero.
// 4. Adjacent used blocks are in one mapping, with Boost's pages between them: the number of mappings, of which a
//    process has 65530, does not grow with the pieces.
//
// The arena disappears with its last descriptor and mapping: a dead rank's when the last peer that mapped it ends or
// unmaps it; nothing has to be done for that. In a child of fork() the pieces are private copies (mapping.hpp); it
// neither allocates nor frees.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "portals/base/status.hpp"
#include "sim/base/limits.hpp"
#include "sim/machine/mapping.hpp"
#include "sim/machine/slabs.hpp"

namespace margay::sim {

struct RankArea;

// A position in the owner's arena: the form in which ranks exchange addresses.
struct HeapAddress {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool operator==(const HeapAddress&) const = default;
};

// The seals by which a peer recognises an arena.
inline constexpr int kHeapSeals = F_SEAL_SHRINK | F_SEAL_GROW;

// Options for tests.
struct HeapOptions {
  // Behaves as if the operating system had no memfd.
  bool refuse_memfd = false;
  // Whole pages; 0: by the machine's memory.
  std::uint64_t arena_bytes = 0;
};

// Used by its owner only, under the process lock.
class SharedHeap {
 public:
  // Allocates nothing from the system before the first allocation.
  explicit SharedHeap(const HeapOptions& options = {});
  // Unmaps and closes the arena. Requires: no piece is used any more.
  ~SharedHeap();
  SharedHeap(const SharedHeap&) = delete;
  SharedHeap& operator=(const SharedHeap&) = delete;

  // Allocates a piece of zeros; one of 0 bytes also has an address of its own. `alignment`: a power of two, up to
  // kAlignmentMaxBytes. Fails, with `out` nullptr, when this system lacks such memory or the address space for it.
  // Whether the machine has the memory is not tested (rank_memory does).
  static constexpr std::uint64_t kAlignmentMaxBytes = 4096;
  [[nodiscard]] portals::Status allocate(std::uint64_t bytes, void*& out, std::uint64_t alignment = kCacheLineBytes);
  // Frees a piece. Requires: `address` came from allocate(), has not been freed, and peers do not use it any more.
  void free(void* address);

  // The place of a range, if it lies in one piece, within the bytes that were requested.
  [[nodiscard]] std::optional<HeapAddress> find(const void* address, std::uint64_t bytes) const;
  // Whether the address is one that allocate() returned.
  [[nodiscard]] bool owns(const void* address) const;

  // Publishes the arena to the peers, once there is one; repeating it has no effect. Required before a place in it is
  // sent to any of them.
  void publish(RankArea& mine) const;

  // -1 and 0: there is no arena yet.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::uint64_t arena_bytes() const { return arena_.bytes(); }
  // Bytes of the pieces as requested; and memory that the system has given to the whole arena.
  [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_; }
  [[nodiscard]] std::uint64_t memory_bytes() const;
  // Memory that the pieces may still take.
  [[nodiscard]] std::uint64_t untouched_bytes() const { return used_bytes_ - std::min(used_bytes_, memory_bytes()); }
  // Pieces that are allocated, slabs counted by the pieces in them.
  [[nodiscard]] std::size_t pieces() const { return pieces_.size() - slabs_.slabs() + slabs_.pieces(); }
  // Whether Boost's data are consistent in themselves and with the pieces. Slow; for tests.
  [[nodiscard]] bool is_sound() const;

 private:
  struct Division;  // Boost's buffer
  // A block of Boost's, with the piece in it.
  struct Piece {
    // The bytes requested; a slab's whole length.
    std::uint64_t bytes;
    // End of its whole pages.
    std::uint64_t pages_end;
    // Boost's address: at the piece, or before it.
    std::uint64_t block;
    std::uint64_t block_end;
  };
  // By position.
  using Pieces = std::map<std::uint64_t, Piece>;

  // Makes the arena at the first allocation; smaller where the bound is refused.
  [[nodiscard]] portals::Status make_arena();
  [[nodiscard]] portals::Status open_arena(std::uint64_t bytes);
  // The two ways of allocate(): a place in a slab, or pages of its own.
  [[nodiscard]] portals::Status allocate_short(std::uint64_t bytes, std::uint64_t place_bytes, std::uint64_t& begin);
  [[nodiscard]] portals::Status allocate_pages(std::uint64_t bytes, std::uint64_t& begin);
  void free_pages(std::uint64_t begin);
  // Position in the arena; beyond it for a foreign address.
  [[nodiscard]] std::uint64_t offset_of(const void* address) const;
  [[nodiscard]] bool empty(std::uint64_t begin, std::uint64_t end) const;
  // Core dumps and huge pages of a piece.
  void advise(std::uint64_t begin, const Piece& piece, bool is_used) const;

  HeapOptions options_;
  // The process that made the heap; a forked child neither allocates nor frees.
  pid_t owner_;
  int descriptor_ = -1;
  SharedRange arena_;
  std::unique_ptr<Division> division_;
  // Position of the first block that Boost can return.
  std::uint64_t first_block_ = 0;
  // Pieces of whole pages, slabs included.
  Pieces pieces_;
  Slabs slabs_;
  std::uint64_t used_bytes_ = 0;
};

}  // namespace margay::sim
