// What the ranks of a node have in common beside the channels between them: for each of the first communicators a place
// where its members meet (sim/shm/meeting), and for each member memory that all of them read. And where the operating
// system allows it, what a member shows of its own memory, without a copy.
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

class NodeMemory {
 public:
  static constexpr std::uint32_t kNotHere = ~0U;

  // `world_ranks`: of the node's ranks, by their number on it. The layout's segment outlives it. `may_read`: this rank
  // may read the others' memory (--method long=ring: it may not).
  NodeMemory(const ShmLayout& layout, std::vector<std::uint32_t> world_ranks, bool barrier_registered, bool may_read)
      : layout_(layout), world_ranks_(std::move(world_ranks)), registered_(barrier_registered), may_read_(may_read) {}

  // Whether a barrier of who is about to sleep reaches this process (sim/shm/barrier).
  [[nodiscard]] bool barrier_registered() const { return registered_; }
  // A rank's number on the node.
  [[nodiscard]] std::uint32_t local_rank(std::uint32_t world_rank) const;
  // Whether communicators with this pair of contexts have a place.
  [[nodiscard]] static bool has_place(std::uint32_t pair) { return pair < kMeetingPlaces; }
  // Of the communicator whose member with the lowest number on the node is `leader`.
  [[nodiscard]] MeetingData& place(std::uint32_t pair, std::uint32_t leader) const {
    return layout_.meeting(pair, leader);
  }
  // What member `local_rank` shows the others, on one of two sides: a line, or kMeetingPartBytes for more than that.
  [[nodiscard]] std::byte* part(std::uint32_t pair, std::uint32_t local_rank, unsigned side,
                                std::uint64_t bytes) const {
    return bytes <= kCacheLineBytes ? layout_.meeting_line(pair, local_rank, side)
                                    : layout_.meeting_part(pair, local_rank, side);
  }
  // Whether members also have strips of long data and postings; then where. A strip has kStripAreaBytes.
  [[nodiscard]] bool has_strips(std::uint32_t pair) const { return pair < layout_.long_places(); }
  [[nodiscard]] std::byte* strip(std::uint32_t pair, std::uint32_t local_rank, unsigned side) const {
    return layout_.strip(pair, local_rank, side);
  }
  [[nodiscard]] PostingArea& posting_area(std::uint32_t pair, std::uint32_t local_rank) const {
    return layout_.posting_area(pair, local_rank);
  }
  // Whether ranks read each other's own memory: one answer for all, which the first one that asks while another rank is
  // there finds by trying. nullopt: none was there yet.
  [[nodiscard]] std::optional<bool> reads_others() const;
  // Fills `landing` from a rank's own memory, by what that rank offers of it. Requires: reads_others(). gone: the
  // rank's process has ended.
  [[nodiscard]] ReadFault read(std::uint32_t local_rank, const ReadOffer& offer, const portals::Region& landing) const;
  // A rank's own memory, at addresses that it told. Requires: reads_others().
  [[nodiscard]] PeerMemory memory_of(std::uint32_t local_rank) const { return PeerMemory(layout_.area(local_rank)); }
  // Whether others can read these pieces of this rank's memory: not all memory can be (memfd_secret). Looks at the ends
  // of each.
  [[nodiscard]] bool can_be_read(std::uint32_t local_rank, std::span<const portals::Buffer> pieces) const;
  // Around accumulates to windows of a rank (sim/shm/accumulate_lock).
  [[nodiscard]] AccumulateLockData& accumulates(std::uint32_t local_rank) const {
    return layout_.area(local_rank).accumulates;
  }
  // Whether a rank's process is no more, as the operating system says; no, where it does not let others look.
  [[nodiscard]] bool ended(std::uint32_t local_rank) const { return has_ended(layout_.area(local_rank)); }
  // The same as ring(), also for a rank that computes: its coprocessor is to look. A system call.
  void wake(std::uint32_t local_rank) const { BellRinger(layout_.area(local_rank).bell, registered_).ring(); }
  // Something was published for a rank that may sleep.
  void ring(std::uint32_t local_rank) const {
    BellRinger(layout_.area(local_rank).bell, registered_).ring_if_sleeping();
  }

 private:
  [[nodiscard]] std::uint32_t try_reading_others() const;

  ShmLayout layout_;
  std::vector<std::uint32_t> world_ranks_;
  bool registered_;
  bool may_read_;
};

}  // namespace margay::sim
