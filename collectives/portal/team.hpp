// The members of a communicator whose processes all share a node, with their part of the node's memory
// (sim/machine/node_memory). Under the process lock.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpi_adi/object/communicator.hpp"
#include "sim/machine/node_memory.hpp"

namespace margay::collectives {

// A member's record of its own postings. A posting is reused only when all members are done with the call that used it.
struct PostingRooms {
  std::uint64_t all_done = 0;                                  // all members are done with the calls up to this one
  std::uint32_t next_long = 0;                                 // the next long posting, in turn
  std::array<std::uint64_t, sim::kLongPostings> long_calls{};  // the call whose data each long posting has
};

// A communicator's place in the node's memory, as one member sees it: barrier, parts, strips and postings. Found once
// for each communicator. Refers to `memory`, which outlives it.
class Team {
 public:
  // The place of these members; nullopt if they have none: a single member, or too many, or not all on this node, or a
  // pair of contexts without a place, or the library's own world. The same on all members. `memory` outlives the team.
  [[nodiscard]] static std::optional<Team> find(const sim::NodeMemory* memory, const mpi_adi::Communicator& members);

  // The members' shared-memory barrier.
  [[nodiscard]] sim::SharedBarrier& barrier() { return barrier_; }
  // The part in which a member writes `bytes` bytes for a barrier on this side; `bytes` <= sim::kBarrierPartBytes.
  [[nodiscard]] std::byte* part(int member, unsigned side, std::uint64_t bytes) const {
    return memory_->part(pair_, local_ranks_[static_cast<std::size_t>(member)], side, bytes);
  }
  // Whether the place also has strips (memory for long data) and postings. strip(): a member's strip on one of two
  // sides.
  [[nodiscard]] bool has_strips() const { return memory_->has_strips(pair_); }
  [[nodiscard]] std::byte* strip(int member, unsigned side) const {
    return memory_->strip(pair_, local_ranks_[static_cast<std::size_t>(member)], side);
  }
  // A member's postings and its progress. Requires: has_strips().
  [[nodiscard]] sim::PostingArea& posting_area(int member) const {
    return memory_->posting_area(pair_, local_ranks_[static_cast<std::size_t>(member)]);
  }
  // The bookkeeping of this member's postings; other members keep their own.
  [[nodiscard]] PostingRooms& rooms() { return rooms_; }
  // Whether members can read each other's own memory; nullopt while no other process of the node has started. Requires:
  // has_strips().
  [[nodiscard]] std::optional<bool> reads_others() const { return memory_->reads_others(); }
  // Fills `landing` from the member's own memory that `offer` describes. Requires: reads_others().
  [[nodiscard]] sim::ReadFault read(int member, const sim::ReadOffer& offer, const portals::Region& landing) const {
    return memory_->read(local_ranks_[static_cast<std::size_t>(member)], offer, landing);
  }
  // Whether others can read these pieces of this member's memory.
  [[nodiscard]] bool can_be_read(std::span<const portals::Buffer> pieces) const {
    return memory_->can_be_read(local_ranks_[me_], pieces);
  }
  // Publishes that this member has read all data that others offer in their own memory for the `number`-th call.
  void publish_read(std::uint64_t number);
  // Members of the communicator.
  [[nodiscard]] int size() const { return static_cast<int>(local_ranks_.size()); }
  // Publishes that this member is done with the communicator's `number`-th call. `failed`: because a process is lost.
  void publish_done(std::uint64_t number, bool failed);
  // Records that this member left a barrier because a process is lost. The member arrives at no later barrier, since a
  // slower member could take that arrival for the arrival at this barrier. No barrier is missed: without the lost
  // member none opens.
  void leave_for_loss() { left_for_loss_ = true; }
  [[nodiscard]] bool has_left_for_loss() const { return left_for_loss_; }
  // From now on, members that publish progress wake sleeping members. The caller must poll once more after this call
  // before it sleeps (sim::set_wanted()).
  void request_progress() {
    if (!sim::is_wanted(barrier_.wanted(), true)) sim::set_wanted(barrier_.wanted());
  }

  // Wakes all other members. They may sleep until the barrier opens, or until this member has posted or finished a
  // call. wake() wakes one member.
  void wake_others() const;
  void wake(int member) const { memory_->ring(local_ranks_[static_cast<std::size_t>(member)]); }

  // Leaves the place after this process's last call on the communicator. Contexts, and with them the place, are reused
  // when all members have left.
  void leave();
  // Detects that all members have left; outlives the team.
  struct Departure {
    sim::SharedBarrier barrier;
    std::uint32_t round;
    [[nodiscard]] bool all_have_left() const { return barrier.round() != round; }
  };
  [[nodiscard]] Departure departure() const { return {barrier_, round_}; }

 private:
  Team(const sim::NodeMemory& memory, std::uint32_t pair, std::vector<std::uint32_t> local_ranks, std::size_t me);

  const sim::NodeMemory* memory_;
  // Pair of contexts, which is the place's number.
  std::uint32_t pair_;
  // Members' numbers on the node, by rank; `me_`: this member's rank.
  std::vector<std::uint32_t> local_ranks_;
  std::size_t me_;
  // A view of the barrier's words in shared memory.
  sim::SharedBarrier barrier_;
  std::uint32_t round_;  // the place's round; does not change before this process leaves
  PostingRooms rooms_;
  bool left_for_loss_ = false;
};

}  // namespace margay::collectives
