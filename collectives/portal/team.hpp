// The members of a communicator that all run on one node, as they meet in the memory that the node shares
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

// Which of its postings a member may write again: those of calls that all are done with.
struct PostingRooms {
  std::uint64_t all_done = 0;                                  // all are done with the calls up to this one
  std::uint32_t next_long = 0;                                 // of the long ones, in turn
  std::array<std::uint64_t, sim::kLongPostings> long_calls{};  // whose data is there
};

class Team {
 public:
  // nullopt: there is no place for them, or no such memory. The same on all members. `memory` outlives the team.
  [[nodiscard]] static std::optional<Team> find(const sim::NodeMemory* memory, const mpi_adi::Communicator& members);

  [[nodiscard]] sim::Meeting& meeting() { return meeting_; }
  // What a member shows the others in a meeting on this side: `bytes` of it, at most sim::kMeetingPartBytes.
  [[nodiscard]] std::byte* part(int member, unsigned side, std::uint64_t bytes) const {
    return memory_->part(pair_, local_ranks_[static_cast<std::size_t>(member)], side, bytes);
  }
  // Whether they can show each other long data; then where a member has its strip.
  [[nodiscard]] bool has_strips() const { return memory_->has_strips(pair_); }
  [[nodiscard]] std::byte* strip(int member, unsigned side) const {
    return memory_->strip(pair_, local_ranks_[static_cast<std::size_t>(member)], side);
  }
  // What a member posts. Requires: has_strips().
  [[nodiscard]] sim::PostingArea& posting_area(int member) const {
    return memory_->posting_area(pair_, local_ranks_[static_cast<std::size_t>(member)]);
  }
  [[nodiscard]] PostingRooms& rooms() { return rooms_; }
  // Whether a member may show its own memory, where it lies; nullopt: no other process of the node is there yet.
  // Requires: has_strips().
  [[nodiscard]] std::optional<bool> reads_others() const { return memory_->reads_others(); }
  [[nodiscard]] sim::ReadFault read(int member, const sim::ReadOffer& offer, const portals::Region& landing) const {
    return memory_->read(local_ranks_[static_cast<std::size_t>(member)], offer, landing);
  }
  [[nodiscard]] bool can_be_read(std::span<const portals::Buffer> pieces) const {
    return memory_->can_be_read(local_ranks_[me_], pieces);
  }
  // This member has read what others show of their own memory in the `number`-th call.
  void have_read(std::uint64_t number);
  // A call that this member waited in is over; of the calls on the communicator the `number`-th. `failed`: a process is
  // lost.
  [[nodiscard]] int size() const { return static_cast<int>(local_ranks_.size()); }
  void be_done(std::uint64_t number, bool failed);
  // This member left a meeting because a process is lost. It comes to no later one: what it would write there could be
  // read by a slower member as what it had shown in that, and with one of them lost none opens.
  void leave_for_a_loss() { left_for_a_loss_ = true; }
  [[nodiscard]] bool has_left_for_a_loss() const { return left_for_a_loss_; }
  // Who waits for another member's progress may sleep from here on; it looks once more after this.
  void want_progress() {
    if (!sim::is_wanted(meeting_.wanted(), true)) sim::want(meeting_.wanted());
  }

  // Others may sleep until the meeting opens, or this member posts.
  void wake_others() const;
  void wake(int member) const { memory_->ring(local_ranks_[static_cast<std::size_t>(member)]); }

  // This process's last call on the communicator is over. Its contexts, and with them this place, are used again when
  // all others have left too.
  void leave();
  // When that is: kept after the team is gone.
  struct Departure {
    sim::Meeting meeting;
    std::uint32_t round;
    [[nodiscard]] bool all_have_left() const { return meeting.round() != round; }
  };
  [[nodiscard]] Departure departure() const { return {meeting_, round_}; }

 private:
  Team(const sim::NodeMemory& memory, std::uint32_t pair, std::vector<std::uint32_t> local_ranks, std::size_t me);

  const sim::NodeMemory* memory_;
  std::uint32_t pair_;
  std::vector<std::uint32_t> local_ranks_;
  std::size_t me_;
  sim::Meeting meeting_;
  std::uint32_t round_;  // it stays until this process leaves
  PostingRooms rooms_;
  bool left_for_a_loss_ = false;
};

}  // namespace margay::collectives
