// The members of a communicator that all run on one node, as they meet in the memory that the node shares
// (sim/machine/node_memory). Under the process lock.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mpi_adi/object/communicator.hpp"
#include "sim/machine/node_memory.hpp"

namespace margay::collectives {

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
  [[nodiscard]] bool has_strips() const { return sim::NodeMemory::has_strips(pair_); }
  [[nodiscard]] std::byte* strip(int member, unsigned side) const {
    return memory_->strip(pair_, local_ranks_[static_cast<std::size_t>(member)], side);
  }
  // Others may sleep until the meeting opens.
  void wake_others() const;

  // This process's last call on the communicator is over. Its contexts, and with them this place, are used again when
  // all others have left too.
  void leave() { meeting_.leave(); }
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
};

}  // namespace margay::collectives
