// How a node's shared segment is laid out:
//
//   SegmentHeader (a page) | RankArea of rank 0 | rank 1 ... | meeting places | channels to rank 0: from 0, from 1 ...
//   | to rank 1 ...
//
// A meeting place: MeetingData by leader | lines of rank 0 (two sides), of rank 1 ... | parts of rank 0 (two sides) ...
// Those of the first few also have: strips of rank 0 (two sides), of rank 1 ... | PostingArea of rank 0, of rank 1 ...
//
// The segment is a sparse file of zeros; zero is the valid initial state of everything but the header, so a page costs
// memory only when a message (or its rank's start) touches it. Positions only, no pointers: each process maps it where
// it likes.
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
#include "sim/shm/meeting.hpp"
#include "sim/shm/posting.hpp"

namespace margay::sim {

inline constexpr std::uint64_t kSegmentMagic = 0x3147'4553'5941'474d;  // "MGAYSEG1" read as little-endian
inline constexpr std::uint32_t kSegmentVersion = 12;
inline constexpr std::size_t kSegmentPageBytes = 4096;
// Ranks of one node: their channels' addresses still fit (145 GB of addresses, not of memory).
inline constexpr std::uint32_t kShmRanksMax = 1024;

// The communicators with the lowest contexts have one; 34 kB for each of a node's ranks, of addresses.
inline constexpr std::uint32_t kMeetingPlaces = 32;
// What a member shows the others at once, at most.
inline constexpr std::uint64_t kMeetingPartBytes = std::uint64_t{16} << 10;
// Of the first communicators, the world among them, members show each other long data too, strip by strip. A strip and
// what it comes to; all strips of a few ranks stay in the caches.
inline constexpr std::uint32_t kLongPlaces = 8;
// Where the segment costs all of its memory at once there is one for the world, which costs each rank 1.1 MB.
inline constexpr std::uint32_t kLongPlacesAllocated = 1;
inline constexpr std::uint64_t kStripBytes = std::uint64_t{128} << 10;
inline constexpr std::uint64_t kStripAreaBytes = 2 * kStripBytes;
// And what they post (sim/shm/posting): a member's progress and postings, then their data.
struct PostingArea {
  ProgressData progress;
  std::array<PostingData, kPostings> postings;
  alignas(kSegmentPageBytes) std::byte data[kPostings][kPostingBytes];
  std::byte long_data[kLongPostings][kLongPostingBytes];
};
static_assert(std::is_trivially_copyable_v<PostingArea> && sizeof(PostingArea) % kSegmentPageBytes == 0);

struct SegmentHeader {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t ranks = 0;
  std::uint64_t channel_bytes = 0;  // of one channel, so that differently built libraries do not meet
  std::uint32_t reading = 0;        // whether ranks read each other's memory in collective calls (node_memory)
  std::uint32_t long_places = 0;    // 0 to kLongPlaces, as many as the segment has room for
};
static_assert(std::is_trivially_copyable_v<SegmentHeader> && sizeof(SegmentHeader) == 32);

// One rank's own: what others look at to reach it.
struct RankArea {
  BellData bell;
  // Written once by the rank at its start, pid last: 0 not here yet.
  alignas(kCacheLineBytes) std::uint32_t pid = 0;
  std::uint32_t only_processor = 0;  // the one that it may run on, plus 1; 0: several
  std::uint64_t test_address = 0;    // in its memory, of a word that peers try to read
  std::uint64_t test_word = 0;       // what they must find there
  // Grows with each of `opened`, and with other news for the owner, so that looking for new senders is one load.
  std::uint32_t opened_count = 0;
  std::uint32_t has_left = 0;  // 1: its messages are out and in, its process may end
  // Of the memory that the rank allocates for its node (sim/machine/shared_heap), written once when it first does,
  // heap_descriptor last: its file's number in the rank's process, plus 1; 0: there is none yet.
  std::uint32_t heap_descriptor = 0;
  std::uint32_t processor = 0;  // see RankProcessors (sim/shm/rank_processors.hpp); for ranks without a job board
  std::uint64_t heap_bytes = 0;
  std::uint64_t heap_file = 0;  // its inode: no other file is taken for it, whoever has the process's number by then
  // Around accumulates to this rank's windows that no instruction does at once.
  AccumulateLockData accumulates;
  // opened[i]: local rank i has sent here before, so its channel is worth a look. Written once by rank i.
  alignas(kCacheLineBytes) std::array<std::uint8_t, kShmRanksMax> opened{};
};
static_assert(std::is_trivially_copyable_v<RankArea>);
static_assert(offsetof(RankArea, bell) == 0 && offsetof(RankArea, pid) == 64 && offsetof(RankArea, opened) == 192);
static_assert(offsetof(RankArea, heap_descriptor) == 96 && offsetof(RankArea, heap_bytes) == 104);
static_assert(sizeof(RankArea) <= kSegmentPageBytes);

// Bytes of the segment for `ranks` ranks of a node, with so many long places. Requires: 1 <= ranks <= kShmRanksMax.
[[nodiscard]] std::uint64_t shm_segment_bytes(std::uint32_t ranks, std::uint32_t long_places = kLongPlaces);
// What whoever makes it chooses from. How many long places it has follows from the size.
[[nodiscard]] SegmentSizes shm_segment_sizes(std::uint32_t ranks);

// The segment's parts, as this process has it mapped.
class ShmLayout {
 public:
  // Writes the header into a fresh segment, or finds there the one that another rank wrote (all ranks may call this, in
  // any order, at once). Error: a segment that is too small, not aligned to pages, made for another number of ranks or
  // of long places, or by another version.
  [[nodiscard]] static portals::Status attach(std::span<std::byte> segment, std::uint32_t ranks, ShmLayout& out);

  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] std::uint32_t long_places() const { return long_places_; }
  [[nodiscard]] std::uint32_t& reading() const { return reinterpret_cast<SegmentHeader*>(base_)->reading; }
  [[nodiscard]] RankArea& area(std::uint32_t rank) const;
  [[nodiscard]] MeetingData& meeting(std::uint32_t place, std::uint32_t leader) const;
  [[nodiscard]] std::byte* meeting_line(std::uint32_t place, std::uint32_t rank, unsigned side) const;
  [[nodiscard]] std::byte* meeting_part(std::uint32_t place, std::uint32_t rank, unsigned side) const;
  // kStripAreaBytes. Requires: place < long_places().
  [[nodiscard]] std::byte* strip(std::uint32_t place, std::uint32_t rank, unsigned side) const;
  [[nodiscard]] PostingArea& posting_area(std::uint32_t place, std::uint32_t rank) const;
  [[nodiscard]] ChannelData& channel(std::uint32_t from, std::uint32_t to) const;

 private:
  std::byte* base_ = nullptr;
  std::uint32_t ranks_ = 0;
  std::uint32_t long_places_ = 0;
};

}  // namespace margay::sim
