// The memory that the ranks of a node share beside their channels. For each of the first communicators it contains a
// shared-memory barrier (sim/shm/shared_barrier), and for each member memory that the other members read. If the
// operating system permits it, members also read each other's own memory directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/shm/bell.hpp"
#include "sim/shm/shared_barrier.hpp"
#include "sim/wire/shm/peer_memory.hpp"
#include "sim/wire/shm/process_memory.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim {

// A view of that memory, which owns nothing. A rank is given by its index on the node, unless it is called a world
// rank.
class NodeMemory {
 public:
  // The result of local_rank() for a rank of another node, or of another job.
  static constexpr std::uint32_t kNotHere = ~0U;

  // `world_ranks`: the world ranks of the node's ranks, ascending, by index on the node. The layout's segment outlives
  // it. `may_read`: whether this rank may read the others' memory (false with --method long=ring).
  NodeMemory(const ShmLayout& layout, std::vector<std::uint32_t> world_ranks, bool has_memory_barrier, bool may_read)
      : layout_(layout), world_ranks_(std::move(world_ranks)), registered_(has_memory_barrier), may_read_(may_read) {}

  // The result of this process's register_node_barrier() (sim/shm/barrier). true: a node_barrier(), which a process
  // executes before it sleeps, also fences this process.
  [[nodiscard]] bool has_memory_barrier() const { return registered_; }
  // A rank's index on the node; kNotHere: the rank is on another node.
  [[nodiscard]] std::uint32_t local_rank(std::uint32_t world_rank) const;
  // A process of another job has this place of the node, and shares no memory.
  void exclude(std::uint32_t world_rank) { guests_.push_back(world_rank); }
  // Whether communicators with context pair `pair` have a barrier slot.
  [[nodiscard]] static bool has_slot(std::uint32_t pair) { return pair < kBarrierSlots; }
  // The barrier slot of the communicator with context pair `pair` whose lowest member on the node is `leader`.
  [[nodiscard]] SharedBarrierData& slot(std::uint32_t pair, std::uint32_t leader) const {
    return layout_.barrier(pair, leader);
  }
  // The memory in which member `local_rank` publishes `bytes` bytes to the other members: a cache line if the bytes
  // fit, otherwise a part of kBarrierPartBytes. `side`: 0 or 1, in turn.
  [[nodiscard]] std::byte* part(std::uint32_t pair, std::uint32_t local_rank, unsigned side,
                                std::uint64_t bytes) const {
    return bytes <= kCacheLineBytes ? layout_.barrier_line(pair, local_rank, side)
                                    : layout_.barrier_part(pair, local_rank, side);
  }
  // Whether members of communicators with `pair` also have strips, for long data, and postings.
  [[nodiscard]] bool has_strips(std::uint32_t pair) const { return pair < layout_.long_slots(); }
  // The address of a member's strip, which has kStripAreaBytes, and the member's postings. `side` is that of the
  // shared-memory barrier. Requires: has_strips(pair).
  [[nodiscard]] std::byte* strip(std::uint32_t pair, std::uint32_t local_rank, unsigned side) const {
    return layout_.strip(pair, local_rank, side);
  }
  [[nodiscard]] PostingArea& posting_area(std::uint32_t pair, std::uint32_t local_rank) const {
    return layout_.posting_area(pair, local_rank);
  }
  // Whether ranks read each other's own memory. The first rank that calls this after another rank has started makes the
  // test, and its result holds for all ranks. nullopt: no other rank has started yet.
  [[nodiscard]] std::optional<bool> reads_others() const;
  // Fills `landing` from a rank's own memory, according to that rank's offer. `gone`: the rank's process has ended.
  // Requires: reads_others() is true.
  [[nodiscard]] ReadFault read(std::uint32_t local_rank, const ReadOffer& offer, const portals::Region& landing) const;
  // Access to a rank's own memory, at addresses that it has sent. Requires: reads_others() is true.
  [[nodiscard]] PeerMemory memory_of(std::uint32_t local_rank) const { return PeerMemory(layout_.area(local_rank)); }
  // Whether other processes can read these pieces of the rank's own memory; some memory (memfd_secret) cannot be read.
  // Tests the first and the last byte of each piece.
  [[nodiscard]] bool can_be_read(std::uint32_t local_rank, std::span<const portals::Buffer> pieces) const;
  // The lock of accumulates to a rank's windows (sim/shm/accumulate_lock).
  [[nodiscard]] AccumulateLockData& accumulates(std::uint32_t local_rank) const {
    return layout_.area(local_rank).accumulates;
  }
  // Whether a rank's process has ended, according to the operating system; false if the operating system does not
  // permit the test.
  [[nodiscard]] bool ended(std::uint32_t local_rank) const { return has_ended(layout_.area(local_rank)); }
  // Rings the bell even if the rank does not sleep, so that the coprocessor of a computing rank polls. A system call.
  void wake(std::uint32_t local_rank) const { BellRinger(layout_.area(local_rank).bell, registered_).ring(); }
  // Wakes a sleeping rank, after something was published for it.
  void ring(std::uint32_t local_rank) const {
    BellRinger(layout_.area(local_rank).bell, registered_).ring_if_sleeping();
  }

 private:
  // Reads the test word of each rank that has started. Returns a value of SegmentHeader::reading; 0: no other rank has
  // started.
  [[nodiscard]] std::uint32_t try_reading_others() const;

  // Addresses in the segment, which Process maps.
  ShmLayout layout_;
  // By local rank, ascending.
  std::vector<std::uint32_t> world_ranks_;
  // World ranks of excluded places; usually empty.
  std::vector<std::uint32_t> guests_;
  // See has_memory_barrier().
  bool registered_;
  bool may_read_;
};

}  // namespace margay::sim
