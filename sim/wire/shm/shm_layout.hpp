// The layout of a node's shared segment:
//
//   SegmentHeader (a page) | RankArea of rank 0 | of rank 1 ... | barrier slots | long slots
//   | channels to rank 0: from 0, from 1 ... | channels to rank 1 ...
//
// A barrier slot is the memory for the shared-memory barriers and the short data of one communicator
// (sim/shm/shared_barrier). It consists of:
//
//   SharedBarrierData for each possible leader | lines of rank 0 (two sides), of rank 1 ... | parts, as the lines
//
// Each of the first few barrier slots also has a long slot, for long data. It consists of:
//
//   strips of rank 0 (two sides), of rank 1 ... | PostingArea of rank 0, of rank 1 ...
//
// The segment is zero at first, which is the valid initial state of every part except the header. So in a sparse
// segment (a memfd) a page costs memory only once a message, or the start of its rank, touches it. The segment contains
// positions and no pointers, because each process maps it at another address.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "portals/base/status.hpp"
#include "sim/base/resources.hpp"
#include "sim/shm/accumulate_lock.hpp"
#include "sim/shm/bell.hpp"
#include "sim/shm/cell_data.hpp"
#include "sim/shm/posting.hpp"
#include "sim/shm/shared_barrier.hpp"

namespace margay::sim {

inline constexpr std::uint64_t kSegmentMagic = 0x3147'4553'5941'474d;  // "MGAYSEG1" read as little-endian
// Changes with each change of this layout, so that ranks with different libraries fail at start.
inline constexpr std::uint32_t kSegmentVersion = 12;
inline constexpr std::size_t kSegmentPageBytes = 4096;
// The most ranks of one node: their channels take 146 GB of addresses, not of memory.
inline constexpr std::uint32_t kShmRanksMax = 1024;

// The number of barrier slots, one for each of the lowest context pairs. A slot takes 33 kB of addresses for each
// rank of the node.
inline constexpr std::uint32_t kBarrierSlots = 32;
// The slot of MPI_COMM_WORLD: its contexts are the first pair.
inline constexpr std::uint32_t kWorldSlot = 0;
// The length of a part: the most bytes that a member publishes to the others at once in a barrier slot.
inline constexpr std::uint64_t kBarrierPartBytes = std::uint64_t{16} << 10;
// The most long slots. Only the first communicators, the world among them, have a long slot. In it members publish
// long data to each other, strip by strip.
inline constexpr std::uint32_t kLongSlots = 8;
// The number of long slots in a segment whose memory is all allocated at once: only the world's, at 1.1 MB for each
// rank.
inline constexpr std::uint32_t kLongSlotsAllocated = 1;
// The length of a strip, so short that the strips of a few ranks stay in the caches; and of its area, which has room
// for data and for a result.
inline constexpr std::uint64_t kStripBytes = std::uint64_t{128} << 10;
inline constexpr std::uint64_t kStripAreaBytes = 2 * kStripBytes;
// One member's postings (sim/shm/posting) in a long slot: the member's progress, the descriptions of its postings, and
// then their data.
struct PostingArea {
  ProgressData progress;
  std::array<PostingData, kPostings> postings;
  alignas(kSegmentPageBytes) std::byte data[kPostings][kPostingBytes];
  std::byte long_data[kLongPostings][kLongPostingBytes];
};
static_assert(std::is_trivially_copyable_v<PostingArea> && sizeof(PostingArea) % kSegmentPageBytes == 0);

// The segment's description. The first rank that attaches writes all fields except `reading`. The other ranks compare
// these fields with their own values.
struct SegmentHeader {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t ranks = 0;
  // Size of a channel, so that a library with another layout fails at start.
  std::uint64_t channel_bytes = 0;
  // Whether ranks read each other's memory in collective calls (NodeMemory::reads_others); answer_once() decides it
  // later.
  std::uint32_t reading = 0;
  // The number of long slots for which the segment has room, at most kLongSlots.
  std::uint32_t long_slots = 0;
};
static_assert(std::is_trivially_copyable_v<SegmentHeader> && sizeof(SegmentHeader) == 32);

// One rank's page: the values by which the other ranks reach it.
struct RankArea {
  BellData bell;
  // The rank writes pid and the next three fields once, at its start, pid last. pid 0: the rank has not started.
  alignas(kCacheLineBytes) std::uint32_t pid = 0;
  // The only processor that the rank may run on, plus 1; 0: several.
  std::uint32_t only_processor = 0;
  // The address, in the rank's memory, of a word that peers try to read, and the value that they must find there.
  std::uint64_t test_address = 0;
  std::uint64_t test_word = 0;
  // Grows with each new flag of `opened`, and when another process is found to have ended. So this rank detects both by
  // one load.
  std::uint32_t opened_count = 0;
  // 1: the rank has sent its goodbye: all of its traffic is complete, and its process may exit.
  std::uint32_t has_left = 0;
  // Three fields describe the arena of the rank's heap (sim/machine/shared_heap): heap_descriptor, heap_bytes and
  // heap_file. They are written once, at the first allocation, heap_descriptor last. heap_descriptor: the number of the
  // arena's file descriptor in the rank's process, plus 1; 0: there is no arena yet.
  std::uint32_t heap_descriptor = 0;
  // The processor on which the rank runs, if there is no job board; see RankProcessors (sim/shm/rank_processors.hpp).
  std::uint32_t processor = 0;
  std::uint64_t heap_bytes = 0;
  // The arena's inode, by which a peer recognises the file even if the process's number has been reused.
  std::uint64_t heap_file = 0;
  // The lock around those accumulates to this rank's windows that no single instruction can perform.
  AccumulateLockData accumulates;
  // opened[i]: local rank i has sent a message to this rank, which therefore polls the channel from i. Written once, by
  // rank i.
  alignas(kCacheLineBytes) std::array<std::uint8_t, kShmRanksMax> opened{};
};
static_assert(std::is_trivially_copyable_v<RankArea>);
static_assert(offsetof(RankArea, bell) == 0 && offsetof(RankArea, pid) == 64 && offsetof(RankArea, opened) == 192);
static_assert(offsetof(RankArea, heap_descriptor) == 96 && offsetof(RankArea, heap_bytes) == 104);
static_assert(sizeof(RankArea) <= kSegmentPageBytes);

// Bytes of a segment for `ranks` ranks of a node, with `long_slots` long slots. Requires: 1 <= ranks <= kShmRanksMax.
[[nodiscard]] std::uint64_t shm_segment_bytes(std::uint32_t ranks, std::uint32_t long_slots = kLongSlots);
// The sizes of a segment from which its maker chooses. The number of long slots follows from the size.
[[nodiscard]] SegmentSizes shm_segment_sizes(std::uint32_t ranks);

// The addresses of the segment's parts in this process's mapping. Copyable; does not own the mapping. Indices are local
// ranks.
class ShmLayout {
 public:
  // Writes the header of a fresh segment, or checks the header that another rank wrote. All ranks may call this at
  // once. Fails for more than kShmRanksMax ranks, and for a segment that is too small, not aligned to pages, not
  // margay's, or made for another number of ranks or of long slots, or by another version.
  [[nodiscard]] static portals::Status attach(std::span<std::byte> segment, std::uint32_t ranks, ShmLayout& out);

  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] std::uint32_t long_slots() const { return long_slots_; }
  // SegmentHeader::reading, for answer_once().
  [[nodiscard]] std::uint32_t& reading() const { return reinterpret_cast<SegmentHeader*>(base_)->reading; }
  // The parts. Requires: indices within the segment.
  [[nodiscard]] RankArea& area(std::uint32_t rank) const;
  [[nodiscard]] SharedBarrierData& barrier(std::uint32_t slot, std::uint32_t leader) const;
  // `side`: 0 or 1, in turn, so that a call may write while other ranks still read the data of the call before.
  [[nodiscard]] std::byte* barrier_line(std::uint32_t slot, std::uint32_t rank, unsigned side) const;
  [[nodiscard]] std::byte* barrier_part(std::uint32_t slot, std::uint32_t rank, unsigned side) const;
  // A strip's area, kStripAreaBytes, and a member's postings. Requires: slot < long_slots().
  [[nodiscard]] std::byte* strip(std::uint32_t slot, std::uint32_t rank, unsigned side) const;
  [[nodiscard]] PostingArea& posting_area(std::uint32_t slot, std::uint32_t rank) const;
  // The channel of messages from one rank to another.
  [[nodiscard]] ChannelData& channel(std::uint32_t from, std::uint32_t to) const;

 private:
  std::byte* base_ = nullptr;
  std::uint32_t ranks_ = 0;
  std::uint32_t long_slots_ = 0;
};

// Whether a channel between two processes is at rest: all messages that were sent have been taken, and all credit has
// been returned. Requires: the channel was used, and one of the processes has ended.
[[nodiscard]] bool is_at_rest(ChannelData& channel);
// Whether another process may have a local rank's place: its channels are at rest, and all members of each communicator
// of the ended process have left the communicator's slot. Requires: the process has ended MPI in order.
[[nodiscard]] bool is_place_at_rest(const ShmLayout& layout, std::uint32_t local_rank);
// Clears what an ended process has left in its place beside its channels: its area but for the flags of used channels,
// and its part in the slot of its MPI_COMM_WORLD. Requires: is_place_at_rest(), and no other process uses the place.
void clear_place(const ShmLayout& layout, std::uint32_t local_rank);

}  // namespace margay::sim
