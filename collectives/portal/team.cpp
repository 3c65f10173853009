#include "collectives/portal/team.hpp"

#include <algorithm>

namespace margay::collectives {

std::optional<Team> Team::find(const sim::NodeMemory* memory, const mpi_adi::Communicator& members) {
  const mpi_adi::Group& group = *members.group;
  const auto pair = static_cast<std::uint32_t>(members.collective_context / 2);
  // The library's own world gets no place in the node's memory. A place belongs to a pair of contexts, and this world
  // has the contexts of the program's world, whose calls are different ones.
  const bool own = group.session == mpi_adi::Group::kNoSession;
  if (memory == nullptr || members.size() < 2 || own || !sim::NodeMemory::has_slot(pair)) return std::nullopt;
  // The barrier's word has 12 bits for the count of arrivals.
  if (static_cast<std::uint32_t>(members.size()) > sim::SharedBarrier::kMembersMax) return std::nullopt;
  std::vector<std::uint32_t> local_ranks;
  for (const std::uint32_t rank : group.world_ranks) {
    local_ranks.push_back(memory->local_rank(rank));
    if (local_ranks.back() == sim::NodeMemory::kNotHere) return std::nullopt;
  }
  return Team(*memory, pair, std::move(local_ranks), static_cast<std::size_t>(members.rank()));
}

Team::Team(const sim::NodeMemory& memory, std::uint32_t pair, std::vector<std::uint32_t> local_ranks, std::size_t me)
    : memory_(&memory),
      pair_(pair),
      local_ranks_(std::move(local_ranks)),
      me_(me),
      barrier_(memory.slot(pair, *std::ranges::min_element(local_ranks_)),
               static_cast<std::uint32_t>(local_ranks_.size())),
      round_(barrier_.round()) {}

void Team::publish_done(std::uint64_t number, bool failed) {
  if (!has_strips()) return;
  sim::publish_done(posting_area(static_cast<int>(me_)).progress, number, failed);
  if (sim::is_wanted(barrier_.wanted(), memory_->has_memory_barrier())) wake_others();
}

// As publish_done(): publishes first, then wakes members that may sleep (see sim::set_wanted()).
void Team::publish_read(std::uint64_t number) {
  sim::publish_read(posting_area(static_cast<int>(me_)).progress, number);
  if (sim::is_wanted(barrier_.wanted(), memory_->has_memory_barrier())) wake_others();
}

// The last member to leave clears the place for the communicator that uses it next.
void Team::leave() {
  barrier_.leave([this] {
    for (int member = 0; has_strips() && member < static_cast<int>(local_ranks_.size()); ++member) {
      sim::PostingArea& area = posting_area(member);
      // Untouched memory stays untouched: writing it would allocate its pages.
      if (area.progress.done == 0) continue;
      area.postings = {};
      area.progress.failed = area.progress.read = 0;
      // Last: the launcher gives the place of an ended member to another process once it finds this 0.
      sim::publish_done(area.progress, 0, false);
    }
  });
}

void Team::wake_others() const {
  for (std::size_t member = 0; member < local_ranks_.size(); ++member) {
    if (member != me_) memory_->ring(local_ranks_[member]);
  }
}

}  // namespace margay::collectives
