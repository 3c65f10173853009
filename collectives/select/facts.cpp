#include "collectives/select/facts.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "collectives/portal/shown.hpp"
#include "collectives/select/choose.hpp"
#include "portals/base/assert.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::collectives {

static_assert(kOperationCount < kShownOperations);

namespace {

// Keeps a communicator's contexts until all members have left its place in the node's memory.
class PlaceHold final : public mpi_adi::ContextHold {
 public:
  explicit PlaceHold(const Team::Departure& departure) : departure_(departure) {}
  [[nodiscard]] bool over() const override { return departure_.all_have_left(); }

 private:
  Team::Departure departure_;
};

// What follows from the places of a communicator's members.
struct Places {
  sim::SharedTable world_ranks;
  sim::SharedTable node_of_rank;
  // Members belong to several jobs, which know different facts. So each member counts as a node of its own, and no fact
  // of a job is used.
  bool of_several_jobs = false;
  RanksByNode ranks;
  Facts facts;
};

// The latest communicator's, because the ranks of a simulated run share the tables of the world's communicator: each
// would compute the same, in more than O(p).
std::shared_ptr<const Places> find_places(const sim::SharedTable& world_ranks, const Host& host) {
  const sim::SharedTable& node_of_rank = host.node_of_rank();
  static std::mutex mutex;  // of ranks that are threads
  static std::weak_ptr<const Places> latest;
  const std::scoped_lock guard(mutex);
  std::shared_ptr<const Places> found = latest.lock();
  if (found && found->world_ranks.is_same(world_ranks) && found->node_of_rank.is_same(node_of_rank)) return found;
  std::vector<std::uint32_t> nodes;
  nodes.reserve(world_ranks.size());
  for (const std::uint32_t rank : world_ranks) nodes.push_back(node_of_rank[rank]);
  const bool of_several_jobs =
      std::ranges::any_of(nodes, [&](std::uint32_t node) { return node >= host.node_count(); });
  if (of_several_jobs) std::iota(nodes.begin(), nodes.end(), 0U);
  found = std::make_shared<const Places>(
      Places{world_ranks, node_of_rank, of_several_jobs, RanksByNode(nodes), facts_of_nodes(nodes)});
  latest = found;
  return found;
}

}  // namespace

Algorithm StandingFacts::choose(Operation operation, const Reduction& reduction) const {
  const bool in_order = !reduction.combine.commutative();
  if (facts.strips && reduction.element_bytes > sim::kStripBytes / static_cast<std::uint64_t>(facts.ranks))
      [[unlikely]] {
    // Strips are cut between elements, and these elements are longer than one rank's slice of a strip.
    Facts without = facts;
    without.strips = false;
    return collectives::choose(operation, reduction.bytes(), without, in_order);
  }
  return choose(operation, reduction.bytes(), in_order);
}

std::unique_ptr<mpi_adi::ContextHold> KnownFacts::end() {
  if (!team_) return nullptr;
  const Team::Departure departure = team_->departure();
  team_->leave();
  if (departure.all_have_left()) return nullptr;
  return std::make_unique<PlaceHold>(departure);
}

// All members make this call, so a second process of the node starts sooner or later, unless it is lost. Without this
// wait a call would have to choose without the fact, and other members could choose differently.
void KnownFacts::ask_for_reading() {
  auto known = [this] {
    const auto lost = [this](std::uint32_t rank) { return host_.kernel().initiator().is_lost(rank); };
    return team_->reads_others().has_value() ||
           (host_.kernel().initiator().losses() != 0 && std::ranges::any_of(communicator_.group->world_ranks, lost));
  };
  if (!known()) host_.wait(Until(known), 1);
  blocking_.facts.reads = team_->reads_others() == true;
  asks_for_reading_ = false;
}

// Facts of one process alone (how it waits, how busy it is) are not used, because members would choose differently.
KnownFacts& find_facts(Host& host, mpi_adi::Communicator& communicator) {
  const std::shared_ptr<const Places> places = find_places(communicator.group->world_ranks, host);
  Facts facts = places->facts;
  const bool by_job = !places->of_several_jobs;
  if (by_job) {
    facts.crowded = host.crowded();
    facts.processors = host.processors_per_rank() * facts.ranks;
  }
  facts.rates = rates_of_job(by_job ? host.rates() : std::string());
  const portals::Status asked =
      parse_requested_algorithms(by_job ? host.requested_algorithms() : std::string(), facts.requested);
  MARGAY_ASSERT(asked.ok());  // checked when the job began
  auto found =
      std::make_unique<KnownFacts>(host, communicator, facts, NodeGroups({places, &places->ranks}, communicator.rank()),
                                   Team::find(host.node_memory(), communicator));
  KnownFacts& standing = *found;
  communicator.collective_facts = std::move(found);
  return standing;
}

}  // namespace margay::collectives
