#include "sim/wire/shm/shm_layout.hpp"

#include <algorithm>
#include <string>

#include "portals/base/assert.hpp"
#include "sim/shm/byte_ring.hpp"
#include "sim/shm/cell_ring.hpp"
#include "sim/shm/published.hpp"

namespace margay::sim {
namespace {

using portals::Status;

constexpr std::uint64_t kAreaBytes = kSegmentPageBytes;

constexpr std::uint64_t kSides = 2;

// Rounds up, so that every part of the segment begins at a page.
constexpr std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + kSegmentPageBytes - 1) / kSegmentPageBytes * kSegmentPageBytes;
}

// A barrier slot begins with the barriers' data and two lines for each rank, in whole pages. The parts follow.
constexpr std::uint64_t slot_lines_bytes(std::uint64_t ranks) {
  return whole_pages(ranks * (sizeof(SharedBarrierData) + kSides * kCacheLineBytes));
}

constexpr std::uint64_t slot_bytes(std::uint64_t ranks) {
  return slot_lines_bytes(ranks) + ranks * kSides * kBarrierPartBytes;
}

constexpr std::uint64_t slot_offset(std::uint64_t ranks, std::uint32_t slot) {
  return kSegmentPageBytes + ranks * kAreaBytes + slot * slot_bytes(ranks);
}

constexpr std::uint64_t long_slot_bytes(std::uint64_t ranks) {
  return ranks * (kSides * kStripAreaBytes + sizeof(PostingArea));
}

// Long slots lie after all barrier slots, so that a segment may have any number of long slots.
constexpr std::uint64_t long_slot_offset(std::uint64_t ranks, std::uint32_t slot) {
  return slot_offset(ranks, kBarrierSlots) + slot * long_slot_bytes(ranks);
}

constexpr std::uint64_t channels_offset(std::uint64_t ranks, std::uint32_t long_slots) {
  return long_slot_offset(ranks, long_slots);
}

// The number of long slots that a segment of `bytes` has room for. Requires: `bytes` suffice for a segment without
// long slots.
std::uint32_t long_slots_in(std::uint64_t bytes, std::uint32_t ranks) {
  // The quotient is rounded down, because a part of a long slot is useless.
  const std::uint64_t more = bytes - shm_segment_bytes(ranks, 0);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(more / long_slot_bytes(ranks), kLongSlots));
}

// The failure `what`, with the name of the memory.
Status refuse(const std::string& what) {
  return Status::error("shared memory of this node: " + what);
}

Status check(const SegmentHeader& header, std::uint32_t ranks, std::uint32_t long_slots) {
  if (header.version != kSegmentVersion || header.channel_bytes != sizeof(ChannelData)) {
    return refuse("laid out by another version of margay (" + std::to_string(header.version) + ", this is " +
                  std::to_string(kSegmentVersion) + "); start all ranks with the same library");
  }
  if (header.ranks != ranks) {
    return refuse("made for " + std::to_string(header.ranks) + " ranks, but this rank counts " + std::to_string(ranks) +
                  " on its node");
  }
  if (header.long_slots != long_slots) {
    return refuse("made with " + std::to_string(header.long_slots) +
                  " slots for long data, but this rank sees room for " + std::to_string(long_slots));
  }
  return {};
}

}  // namespace

std::uint64_t shm_segment_bytes(std::uint32_t ranks, std::uint32_t long_slots) {
  const std::uint64_t count = ranks;
  return channels_offset(count, long_slots) + count * count * sizeof(ChannelData);
}

SegmentSizes shm_segment_sizes(std::uint32_t ranks) {
  return {.sparse = shm_segment_bytes(ranks),
          .allocated = shm_segment_bytes(ranks, kLongSlotsAllocated),
          .least = shm_segment_bytes(ranks, 0)};
}

Status ShmLayout::attach(std::span<std::byte> segment, std::uint32_t ranks, ShmLayout& out) {
  if (ranks == 0 || ranks > kShmRanksMax) {
    return refuse(std::to_string(ranks) + " ranks on one node; at most " + std::to_string(kShmRanksMax) +
                  " can share memory, use more nodes (--nodes)");
  }
  if (const std::uint64_t least = shm_segment_bytes(ranks, 0); segment.size() < least) {
    return refuse("it has " + std::to_string(segment.size()) + " bytes, " + std::to_string(ranks) + " ranks need " +
                  std::to_string(least));
  }
  if (reinterpret_cast<std::uintptr_t>(segment.data()) % kSegmentPageBytes != 0) {
    return refuse("not mapped at a page boundary");
  }
  const std::uint32_t long_slots = long_slots_in(segment.size(), ranks);
  auto& header = *reinterpret_cast<SegmentHeader*>(segment.data());
  // Several ranks may call this at once. One of them writes the header, and the others wait until the header is
  // complete.
  const std::uint64_t there = publish_once(header.magic, kSegmentMagic, [&] {
    header.version = kSegmentVersion;
    header.ranks = ranks;
    header.channel_bytes = sizeof(ChannelData);
    header.long_slots = long_slots;
  });
  if (there != 0) {
    // A wrong magic: the file is another program's, or the first rank died while it wrote the header.
    if (there != kSegmentMagic) return refuse("its first bytes are not margay's");
    if (Status status = check(header, ranks, long_slots); !status.ok()) return status;
  }
  out.base_ = segment.data();
  out.ranks_ = ranks;
  out.long_slots_ = long_slots;
  return {};
}

bool is_at_rest(ChannelData& channel) {
  CellConsumer cells(channel.cells, channel.consumer);
  cells.resume();
  ByteConsumer bytes(channel.bytes, channel.producer, channel.consumer);
  bytes.resume();
  // Bytes that a cell announced are not in the producer's count, but then the cell is still there.
  return !cells.has_next() && bytes.available() == 0;
}

namespace {

// Whether a place's barriers and postings in a slot are as at the job's start: the last member of the communicator to
// leave the slot has cleared them.
bool is_slot_clear(const ShmLayout& layout, std::uint32_t slot, std::uint32_t local_rank) {
  return is_clear(layout.barrier(slot, local_rank)) &&
         (slot >= layout.long_slots() || done_with(layout.posting_area(slot, local_rank).progress) == 0);
}

}  // namespace

bool is_place_at_rest(const ShmLayout& layout, std::uint32_t local_rank) {
  // A member of one of the ended process's communicators may still read what that process has posted for its last call.
  for (std::uint32_t slot = kWorldSlot + 1; slot < kBarrierSlots; ++slot) {
    if (!is_slot_clear(layout, slot, local_rank)) return false;
  }
  for (std::uint32_t other = 0; other < layout.ranks(); ++other) {
    if (other == local_rank) continue;
    // Only used channels are touched, because a page that is read takes memory.
    if (layout.area(local_rank).opened[other] != 0 && !is_at_rest(layout.channel(other, local_rank))) return false;
    if (layout.area(other).opened[local_rank] != 0 && !is_at_rest(layout.channel(local_rank, other))) return false;
  }
  return true;
}

void clear_place(const ShmLayout& layout, std::uint32_t local_rank) {
  RankArea& area = layout.area(local_rank);
  area.only_processor = 0;
  area.test_address = area.test_word = 0;
  area.has_left = area.processor = 0;
  area.heap_descriptor = 0;
  area.heap_bytes = area.heap_file = 0;
  area.accumulates = {};
  publish_number(area.pid, 0);
  // The other slots are clear. Nobody leaves this one: its communicator lasts until all of its members end MPI.
  layout.barrier(kWorldSlot, local_rank) = {};
  if (kWorldSlot >= layout.long_slots()) return;
  PostingArea& posted = layout.posting_area(kWorldSlot, local_rank);
  posted.progress = {};
  posted.postings = {};
}

RankArea& ShmLayout::area(std::uint32_t rank) const {
  MARGAY_ASSERT(rank < ranks_);
  return *reinterpret_cast<RankArea*>(base_ + kSegmentPageBytes + rank * kAreaBytes);
}

SharedBarrierData& ShmLayout::barrier(std::uint32_t slot, std::uint32_t leader) const {
  MARGAY_ASSERT(slot < kBarrierSlots && leader < ranks_);
  return *reinterpret_cast<SharedBarrierData*>(base_ + slot_offset(ranks_, slot) + leader * sizeof(SharedBarrierData));
}

std::byte* ShmLayout::barrier_line(std::uint32_t slot, std::uint32_t rank, unsigned side) const {
  MARGAY_ASSERT(slot < kBarrierSlots && rank < ranks_ && side < kSides);
  const std::uint64_t lines = slot_offset(ranks_, slot) + ranks_ * sizeof(SharedBarrierData);
  return base_ + lines + (rank * kSides + side) * kCacheLineBytes;
}

std::byte* ShmLayout::barrier_part(std::uint32_t slot, std::uint32_t rank, unsigned side) const {
  MARGAY_ASSERT(slot < kBarrierSlots && rank < ranks_ && side < kSides);
  const std::uint64_t parts = slot_offset(ranks_, slot) + slot_lines_bytes(ranks_);
  return base_ + parts + (rank * kSides + side) * kBarrierPartBytes;
}

std::byte* ShmLayout::strip(std::uint32_t slot, std::uint32_t rank, unsigned side) const {
  MARGAY_ASSERT(slot < long_slots_ && rank < ranks_ && side < kSides);
  return base_ + long_slot_offset(ranks_, slot) + (rank * kSides + side) * kStripAreaBytes;
}

PostingArea& ShmLayout::posting_area(std::uint32_t slot, std::uint32_t rank) const {
  MARGAY_ASSERT(slot < long_slots_ && rank < ranks_);
  const std::uint64_t areas = long_slot_offset(ranks_, slot) + ranks_ * kSides * kStripAreaBytes;
  return *reinterpret_cast<PostingArea*>(base_ + areas + rank * sizeof(PostingArea));
}

ChannelData& ShmLayout::channel(std::uint32_t from, std::uint32_t to) const {
  // The channel from a rank to itself exists too, so that the index needs no branch. That channel costs no memory,
  // because it is never touched.
  MARGAY_ASSERT(from < ranks_ && to < ranks_);
  // Ordered by receiver, so that the channels that one rank polls are adjacent.
  const std::uint64_t index = std::uint64_t{to} * ranks_ + from;
  return *reinterpret_cast<ChannelData*>(base_ + channels_offset(ranks_, long_slots_) + index * sizeof(ChannelData));
}

}  // namespace margay::sim
