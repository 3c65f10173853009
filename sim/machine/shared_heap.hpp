// A heap of memory that a rank allocates for its node: for windows, and for MPI_Alloc_mem.
//
// Each rank that allocates has an arena of its own: a memfd, sparse, and sealed against shrinking and growing. Its size
// bounds addresses, not memory. Boost.Interprocess divides the arena into blocks, by best fit, and with positions
// instead of addresses. Only the arena's owner allocates, under its process lock. So shared memory contains no lock
// that a process could leave locked when it dies. Peers map the ranges that the owner has sent (peer_heap) without the
// owner's help.
//
//   arena: Boost's own | block | block ...        block: a page of Boost's own | a piece of whole pages
//
// 1. Boost's alignment is one page. So every block, free or used, consists of whole pages, and Boost writes only in the
// block's first page. Pieces of 16 KiB or less share slabs: blocks of 64 KiB whose records are in private memory
// (slabs). Such a piece takes only its slot in a slab. Each longer piece has a block of its own.
// 2. A piece of kHugeMinBytes or more begins at a huge page's boundary, and huge pages are advised for it. Its block is
// longer by almost a huge page, which takes addresses but no memory.
// 3. The pages of a free block, except its first page, are holes in the file: the memory of a freed block returns to
// the system at once. A peer that touches a freed piece fills such holes again, so a piece is also emptied when it is
// allocated. Allocated memory is zero.
// 4. Adjacent used blocks, and Boost's pages between them, are in one mapping. So the number of mappings, of which a
// process may have 65530, does not grow with the number of pieces.
//
// The operating system frees an arena with its last descriptor and mapping; the arena of a dead rank, when the last
// peer that mapped it ends or unmaps it. In a child of fork() the pieces are private copies (mapping.hpp); the child
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
  // The arena's size, a multiple of a page; 0: determined by the machine's memory.
  std::uint64_t arena_bytes = 0;
};

// One rank's heap. Used by its owner only, under the process lock.
class SharedHeap {
 public:
  // Allocates nothing from the system before the first allocation.
  explicit SharedHeap(const HeapOptions& options = {});
  // Unmaps and closes the arena. Requires: no piece is used any more.
  ~SharedHeap();
  SharedHeap(const SharedHeap&) = delete;
  SharedHeap& operator=(const SharedHeap&) = delete;

  // Allocates a piece of zeros; a piece of 0 bytes also has an address of its own. `alignment`: a power of two, up to
  // kAlignmentMaxBytes. Fails, with `out` nullptr, when this system has no such memory or lacks the address space, and
  // in a child of fork(). Does not test whether the machine has enough memory (RankMemory does).
  static constexpr std::uint64_t kAlignmentMaxBytes = 4096;
  [[nodiscard]] portals::Status allocate(std::uint64_t bytes, void*& out, std::uint64_t alignment = kCacheLineBytes);
  // Frees a piece. Requires: `address` came from allocate() and has not been freed; peers do not use the piece any
  // more.
  void free(void* address);

  // The address of a range in the arena; nullopt unless the range lies in one piece, within the bytes that were
  // requested for it.
  [[nodiscard]] std::optional<HeapAddress> find(const void* address, std::uint64_t bytes) const;
  // Whether the address is one that allocate() returned.
  [[nodiscard]] bool owns(const void* address) const;

  // Publishes the arena to the peers. No effect if there is no arena yet, or if it is published already. Must precede
  // the sending of a range of the arena to a peer.
  void publish(RankArea& mine) const;

  // The arena's file descriptor and size; -1 and 0: there is no arena yet.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::uint64_t arena_bytes() const { return arena_.bytes(); }
  // used_bytes(): the bytes of the allocated pieces, as requested. memory_bytes(): the memory that the system has given
  // to the whole arena.
  [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_; }
  [[nodiscard]] std::uint64_t memory_bytes() const;
  // Memory that the pieces may still take when they are touched.
  [[nodiscard]] std::uint64_t untouched_bytes() const { return used_bytes_ - std::min(used_bytes_, memory_bytes()); }
  // Number of allocated pieces. A slab counts as the pieces in it.
  [[nodiscard]] std::size_t pieces() const { return pieces_.size() - slabs_.slabs() + slabs_.pieces(); }
  // Whether Boost's data are consistent with each other and with the pieces. Slow; for tests.
  [[nodiscard]] bool is_sound() const;

 private:
  struct Division;  // Boost's managed buffer
  // A piece of whole pages, and its block.
  struct Piece {
    // The bytes requested; for a slab, its whole length.
    std::uint64_t bytes;
    // End of the piece's last page.
    std::uint64_t pages_end;
    // Begin and end of the block without Boost's page. The block begins at the piece, or before it.
    std::uint64_t block;
    std::uint64_t block_end;
  };
  // By position.
  using Pieces = std::map<std::uint64_t, Piece>;

  // Makes the arena at the first allocation. If the operating system refuses its size, makes a smaller one.
  [[nodiscard]] portals::Status make_arena();
  [[nodiscard]] portals::Status open_arena(std::uint64_t bytes);
  // The two ways of allocate(): a slot in a slab, or pages of its own.
  [[nodiscard]] portals::Status allocate_short(std::uint64_t bytes, std::uint64_t slot_bytes, std::uint64_t& begin);
  [[nodiscard]] portals::Status allocate_pages(std::uint64_t bytes, std::uint64_t& begin);
  void free_pages(std::uint64_t begin);
  // The position of an address in the arena; at least arena_bytes() for an address outside of it.
  [[nodiscard]] std::uint64_t offset_of(const void* address) const;
  [[nodiscard]] bool empty(std::uint64_t begin, std::uint64_t end) const;
  // Sets or withdraws the advice about core dumps and huge pages for a piece.
  void advise(std::uint64_t begin, const Piece& piece, bool is_used) const;

  HeapOptions options_;
  // The process that made the heap; a forked child neither allocates nor frees.
  pid_t owner_;
  int descriptor_ = -1;
  SharedRange arena_;
  std::unique_ptr<Division> division_;
  // The lowest position that Boost can return.
  std::uint64_t first_block_ = 0;
  // Pieces of whole pages, slabs included.
  Pieces pieces_;
  Slabs slabs_;
  std::uint64_t used_bytes_ = 0;
};

}  // namespace margay::sim
