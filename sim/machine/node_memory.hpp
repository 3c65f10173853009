// The memory that the ranks of a node share beside their channels: for each of the first communicators a shared-memory
// barrier (sim/shm/meeting), and for each member memory that all others read. Where the operating system permits it,
// members also show their own memory, without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/shm/bell.hpp"
#include "sim/shm/meeting.hpp"
#include "sim/wire/shm/peer_memory.hpp"
#include "sim/wire/shm/process_memory.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim {

// A view: owns nothing. Ranks are local ranks, by their index on the node, unless they are called world ranks.
class NodeMemory {
 public:
  // The result of local_rank() for a rank of another node.
  static constexpr std::uint32_t kNotHere = ~0U;

  // `world_ranks`: world ranks of the node's ranks, ascending, by their index on it. The layout's segment outlives it.
  // `may_read`: whether this rank may read the others' memory (false with --method long=ring).
  NodeMemory(const ShmLayout& layout, std::vector<std::uint32_t> world_ranks, bool barrier_registered, bool may_read)
      : layout_(layout), world_ranks_(std::move(world_ranks)), registered_(barrier_registered), may_read_(may_read) {}

  // Whether the barrier of a process about to sleep reaches this process (sim/shm/barrier).
  [[nodiscard]] bool barrier_registered() const { return registered_; }
  // A rank's index on the node; kNotHere: it is on another one.
  [[nodiscard]] std::uint32_t local_rank(std::uint32_t world_rank) const;
  // Whether communicators with this pair of contexts have a meeting place.
  [[nodiscard]] static bool has_place(std::uint32_t pair) { return pair < kMeetingPlaces; }
  // The place of the communicator whose lowest member on the node is `leader`.
  [[nodiscard]] MeetingData& place(std::uint32_t pair, std::uint32_t leader) const {
    return layout_.meeting(pair, leader);
  }
  // The memory that member `local_rank` shows the others, on one of two sides: a line, or kMeetingPartBytes for more.
  [[nodiscard]] std::byte* part(std::uint32_t pair, std::uint32_t local_rank, unsigned side,
                                std::uint64_t bytes) const {
    return bytes <= kCacheLineBytes ? layout_.meeting_line(pair, local_rank, side)
                                    : layout_.meeting_part(pair, local_rank, side);
  }
  // Whether members also have strips for long data, and postings; then their addresses. A strip has kStripAreaBytes.
  [[nodiscard]] bool has_strips(std::uint32_t pair) const { return pair < layout_.long_places(); }
  // Requires: has_strips(pair). Indices are local ranks; `side` is that of the shared-memory barrier.
  [[nodiscard]] std::byte* strip(std::uint32_t pair, std::uint32_t local_rank, unsigned side) const {
    return layout_.strip(pair, local_rank, side);
  }
  [[nodiscard]] PostingArea& posting_area(std::uint32_t pair, std::uint32_t local_rank) const {
    return layout_.posting_area(pair, local_rank);
  }
  // Whether ranks read each other's own memory: one answer for all, found by the first rank that asks while another one
  // is there. nullopt: none was there yet.
  [[nodiscard]] std::optional<bool> reads_others() const;
  // Fills `landing` from a rank's own memory, according to that rank's offer. Requires: reads_others(). gone: the
  // rank's process has ended.
  [[nodiscard]] ReadFault read(std::uint32_t local_rank, const ReadOffer& offer, const portals::Region& landing) const;
  // Access to a rank's own memory, at addresses that it has sent. Requires: reads_others().
  [[nodiscard]] PeerMemory memory_of(std::uint32_t local_rank) const { return PeerMemory(layout_.area(local_rank)); }
  // Whether others can read these pieces of this rank's memory, which does not hold for all memory (memfd_secret).
  // Tests the ends of each piece.
  [[nodiscard]] bool can_be_read(std::uint32_t local_rank, std::span<const portals::Buffer> pieces) const;
  // The lock of accumulates to a rank's windows (sim/shm/accumulate_lock).
  [[nodiscard]] AccumulateLockData& accumulates(std::uint32_t local_rank) const {
    return layout_.area(local_rank).accumulates;
  }
  // Whether a rank's process has ended, according to the operating system; false where it does not permit the test.
  [[nodiscard]] bool ended(std::uint32_t local_rank) const { return has_ended(layout_.area(local_rank)); }
  // As ring(), but also for a computing rank, whose coprocessor is to poll. A system call.
  void wake(std::uint32_t local_rank) const { BellRinger(layout_.area(local_rank).bell, registered_).ring(); }
  // Wakes a sleeping rank, after something was published for it.
  void ring(std::uint32_t local_rank) const {
    BellRinger(layout_.area(local_rank).bell, registered_).ring_if_sleeping();
  }

 private:
  // Reads a test word of each rank that is there; 0: no other rank is there yet.
  [[nodiscard]] std::uint32_t try_reading_others() const;

  // Addresses in the segment, which Process maps.
  ShmLayout layout_;
  // By local rank, ascending.
  std::vector<std::uint32_t> world_ranks_;
  // See barrier_registered().
  bool registered_;
  bool may_read_;
};

}  // namespace margay::sim
