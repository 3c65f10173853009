// Memory that a rank allocates for its node: windows' memory, and what a program asks of MPI_Alloc_mem.
//
// Each rank that allocates has an arena of its own, a memfd: sparse, sealed against shrinking and growing, its size a
// bound on addresses and not memory. Boost.Interprocess divides it, by best fit and with positions instead of
// addresses. Only its owner allocates, under its process lock, so there is no lock in shared memory that a dead process
// could hold. Peers map what they were told the place of (peer_heap) and need nothing of the owner then.
//
//   arena: Boost's own | block | block ...        block: a page of Boost's own | a piece of whole pages
//
// 1. Boost counts in pages (its alignment is one), so every block, free or not, is whole pages and Boost writes only in
//    the first of them. A piece of 16 KiB or less lies with others in a slab, a block of 64 KiB, whose books are
//    private (slabs): it costs its place there. Longer ones have blocks of their own.
// 2. From kHugeMinBytes on a piece begins where huge pages do, and is advised to be of them. Its block is longer by
//    what that takes: addresses, not memory.
// 3. Pages of a free block but its first are holes in the file: the memory of a freed block is the system's at once. A
//    peer that touches a freed piece fills them again, so a piece is also emptied when allocated. What is allocated is
//    zero.
// 4. Used blocks beside each other are of one mapping, Boost's pages between them with them: mappings, of which a
//    process has 65530, do not grow with the pieces.
//
// The arena goes with its last descriptor and mapping: a dead rank's when the last peer that mapped from it ends or
// lets go of it; nothing has to be done for that. In a child of fork() the pieces are private copies (shared_range); it
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

// A position in the owner's arena: what one rank tells another.
struct HeapPlace {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool operator==(const HeapPlace&) const = default;
};

// An arena is a file that has these.
inline constexpr int kHeapSeals = F_SEAL_SHRINK | F_SEAL_GROW;

// For tests.
struct HeapOptions {
  bool refuse_memfd = false;      // as if the kernel had no memfd
  std::uint64_t arena_bytes = 0;  // whole pages; 0: by the machine's memory
};

class SharedHeap {
 public:
  // Takes nothing of the system before the first allocation.
  explicit SharedHeap(const HeapOptions& options = {});
  // Gives the arena back: no piece is used any more.
  ~SharedHeap();
  SharedHeap(const SharedHeap&) = delete;
  SharedHeap& operator=(const SharedHeap&) = delete;

  // A piece of zeros; of 0 bytes it is one like any other. `alignment`: a power of two, up to kAlignmentMaxBytes.
  // Error, `out` is nullptr: there is no such memory on this system, or no addresses for so much. Whether the machine
  // has the memory is not asked (rank_memory).
  static constexpr std::uint64_t kAlignmentMaxBytes = 4096;
  [[nodiscard]] portals::Status allocate(std::uint64_t bytes, void*& out, std::uint64_t alignment = kCacheLineBytes);
  // Requires: `address` came from allocate() and was not freed. Peers have no use for it any more.
  void free(void* address);

  // Where a range lies, if it lies in one piece, by the bytes that were asked for.
  [[nodiscard]] std::optional<HeapPlace> find(const void* address, std::uint64_t bytes) const;
  // Whether the address is one that allocate() gave.
  [[nodiscard]] bool owns(const void* address) const;

  // Tells the peers of the arena, once there is one; again: no effect. Before a place in it is told to any of them.
  void publish(RankArea& mine) const;

  // -1 and 0: there is no arena yet.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::uint64_t arena_bytes() const { return arena_.bytes(); }
  // Of the pieces: as asked for; and of the whole arena, memory that the system has given.
  [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_; }
  [[nodiscard]] std::uint64_t memory_bytes() const;
  // Of the pieces: what they may still take.
  [[nodiscard]] std::uint64_t untouched_bytes() const { return used_bytes_ - std::min(used_bytes_, memory_bytes()); }
  [[nodiscard]] std::size_t pieces() const { return pieces_.size() - slabs_.slabs() + slabs_.pieces(); }
  // Whether Boost's own data contradict neither themselves nor the pieces. Slow.
  [[nodiscard]] bool is_sound() const;

 private:
  struct Division;  // Boost's buffer
  struct Piece {
    std::uint64_t bytes;      // as asked for; of a slab all
    std::uint64_t pages_end;  // of them, in whole pages
    std::uint64_t block;      // what Boost gave: at the piece, or before it
    std::uint64_t block_end;
  };
  using Pieces = std::map<std::uint64_t, Piece>;  // by position

  [[nodiscard]] portals::Status make_arena();
  [[nodiscard]] portals::Status open_arena(std::uint64_t bytes);
  [[nodiscard]] portals::Status allocate_short(std::uint64_t bytes, std::uint64_t place_bytes, std::uint64_t& begin);
  [[nodiscard]] portals::Status allocate_pages(std::uint64_t bytes, std::uint64_t& begin);
  void free_pages(std::uint64_t begin);
  [[nodiscard]] std::uint64_t offset_of(const void* address) const;
  [[nodiscard]] bool empty(std::uint64_t begin, std::uint64_t end) const;
  void advise(std::uint64_t begin, const Piece& piece, bool is_used) const;

  HeapOptions options_;
  pid_t owner_;
  int descriptor_ = -1;
  SharedRange arena_;
  std::unique_ptr<Division> division_;
  std::uint64_t first_block_ = 0;
  Pieces pieces_;  // of pages, slabs too
  Slabs slabs_;
  std::uint64_t used_bytes_ = 0;
};

}  // namespace margay::sim
