#include "collectives/select/choice.hpp"

#include <algorithm>
#include <unordered_map>

#include "collectives/portal/post.hpp"
#include "collectives/portal/tree_portal.hpp"
#include "collectives/topology/grid.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::collectives {

namespace {

constexpr std::uint64_t kShortBytes = kHandshakeBytes;
// What is shown to others in memory is short, too: ranks that take the call for a long one ask or offer, which those
// that wait in memory hear.
static_assert(sim::kMeetingPartBytes == kShortBytes);

constexpr std::array<std::string_view, kOperationCount> kOperationNames{
    "barrier",        "bcast", "reduce", "allreduce",          "gather",           "allgather", "scatter", "alltoall",
    "reduce_scatter", "scan",  "exscan", "neighbor_allgather", "neighbor_alltoall"};

}  // namespace

std::string_view name(Operation operation) {
  return kOperationNames[static_cast<std::size_t>(operation)];
}

std::string_view name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::tree:
      return "tree";
    case Algorithm::exchange:
      return "exchange";
    case Algorithm::nodes:
      return "nodes";
    case Algorithm::direct:
      return "direct";
    case Algorithm::bucket:
      return "bucket";
    case Algorithm::hybrid:
      return "hybrid";
    case Algorithm::shared:
      return "shared";
    case Algorithm::chain:
      return "chain";
  }
  return "unknown";
}

bool does(Algorithm algorithm, Operation operation) {
  switch (operation) {
    case Operation::barrier:
      return algorithm == Algorithm::tree || algorithm == Algorithm::exchange || algorithm == Algorithm::nodes ||
             algorithm == Algorithm::shared;
    case Operation::bcast:
      return algorithm == Algorithm::tree || algorithm == Algorithm::nodes || algorithm == Algorithm::bucket ||
             algorithm == Algorithm::hybrid || algorithm == Algorithm::shared;
    case Operation::reduce:
      return algorithm == Algorithm::tree || algorithm == Algorithm::nodes || algorithm == Algorithm::direct ||
             algorithm == Algorithm::hybrid || algorithm == Algorithm::shared;
    case Operation::allreduce:
      return algorithm != Algorithm::chain;
    case Operation::allgather:
      return algorithm != Algorithm::chain;
    case Operation::reduce_scatter:
      return algorithm != Algorithm::exchange && algorithm != Algorithm::chain;
    case Operation::gather:
      return algorithm == Algorithm::tree || algorithm == Algorithm::direct || algorithm == Algorithm::shared;
    case Operation::scatter:
      return algorithm == Algorithm::tree || algorithm == Algorithm::direct || algorithm == Algorithm::shared;
    case Operation::alltoall:
      return algorithm == Algorithm::direct || algorithm == Algorithm::shared;
    case Operation::scan:
    case Operation::exscan:
      return algorithm == Algorithm::exchange || algorithm == Algorithm::shared || algorithm == Algorithm::chain;
    default:
      return false;
  }
}

namespace {

// Data of no bytes has nothing to cut.
bool can_hybrid(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  if (bytes == 0 || facts.ranks == 1 || (in_order && !facts.by_node)) return false;
  // Where nothing else is asked for there are always slices.
  const bool any = !facts.asked_for.plans[static_cast<std::size_t>(operation)].says_lengths();
  return any ? facts.even : !hybrid_plans(operation, facts, in_order).empty();
}

}  // namespace

bool all_post(const Facts& facts, std::uint64_t bytes) {
  constexpr int kFew = 4;
  return facts.strips && !facts.crowded && facts.ranks <= kFew && bytes <= kPostedBytes;
}

// Flat reductions and gathers take rows that nobody asks for; over several nodes their
// ranks need not be neighbors, and a ring combines in an order of its own.
bool can(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  if (algorithm == Algorithm::shared) {
    const std::uint64_t blocks = operation == Operation::alltoall ? static_cast<std::uint64_t>(facts.ranks) : 1;
    const bool is_short = bytes <= sim::kMeetingPartBytes / blocks;
    switch (operation) {
      case Operation::bcast:
      case Operation::reduce:
        return facts.strips;
      case Operation::gather:
        return facts.strips && (facts.reads || bytes <= kPostedBytes);
      case Operation::scatter:
        return facts.strips && (facts.reads || bytes <= kPostedBytes / static_cast<std::uint64_t>(facts.ranks));
      case Operation::scan:
      case Operation::exscan:
        return facts.shared && (is_short || (facts.strips && bytes <= kPostedBytes));
      default:
        break;
    }
    return facts.shared && (is_short || facts.strips);
  }
  if (algorithm == Algorithm::hybrid) return can_hybrid(operation, bytes, facts, in_order);
  if (in_order && (algorithm == Algorithm::bucket || (algorithm == Algorithm::nodes && facts.nodes > 1))) return false;
  if (operation == Operation::allgather) {
    if (algorithm == Algorithm::exchange) return facts.ranks == 2;
    if (algorithm == Algorithm::nodes) return facts.nodes == 1 && bytes <= kShortBytes;
  }
  if (algorithm == Algorithm::nodes && operation != Operation::bcast) return bytes <= kShortBytes;
  if (operation == Operation::alltoall || operation == Operation::gather) return true;
  if (algorithm == Algorithm::direct || algorithm == Algorithm::bucket) return bytes != 0;
  return true;
}

std::string algorithms_of(Operation operation) {
  std::string names;
  for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
    const auto algorithm = static_cast<Algorithm>(at);
    if (!does(algorithm, operation)) continue;
    names += names.empty() ? "" : "|";
    names += name(algorithm);
  }
  return names;
}

portals::Status parse_asked_for(std::string_view text, AskedFor& out) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    if (pair.empty()) continue;
    const std::string_view asked = pair.substr(0, pair.find('='));
    const std::string_view behind = pair.size() > asked.size() ? pair.substr(asked.size() + 1) : "";
    const std::string_view how = behind.substr(0, behind.find(':'));
    const auto* const operation = std::find(kOperationNames.begin(), kOperationNames.end(), asked);
    const std::string words = "--collective " + std::string(pair) + ": ";
    if (operation == kOperationNames.end() ||
        algorithms_of(static_cast<Operation>(operation - kOperationNames.begin())).empty()) {
      std::string known;
      for (std::size_t at = 0; at < kOperationCount; ++at) {
        const auto one = static_cast<Operation>(at);
        if (!algorithms_of(one).empty()) known += (known.empty() ? "" : ", ") + std::string(name(one));
      }
      return portals::Status::error(words + "there is a choice for " + known);
    }
    const auto of = static_cast<Operation>(operation - kOperationNames.begin());
    std::optional<Algorithm>& chosen = out[static_cast<std::size_t>(of)];
    chosen.reset();
    for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
      const auto algorithm = static_cast<Algorithm>(at);
      if (name(algorithm) == how && does(algorithm, of)) chosen = algorithm;
    }
    const bool plans = how.size() < behind.size();
    if (!chosen || (plans && chosen != Algorithm::hybrid)) {
      chosen.reset();
      return portals::Status::error(words + "it is " + std::string(asked) + "=" + algorithms_of(of));
    }
    AskedPlan& plan = out.plans[static_cast<std::size_t>(of)] = {};
    if (!plans) continue;
    if (const portals::Status said = parse_plan(behind.substr(how.size() + 1), plan); !said.ok()) {
      return portals::Status::error(words + said.sentence());
    }
  }
  return {};
}

namespace {

// Each dimension in each way that was not ruled out.
void add_plans(std::vector<HybridPlan>& plans, const HybridPlan& begun, std::size_t at, const AskedPlan& asked) {
  if (at == HybridPlan::kMaxDimensions || begun.dimensions[at].length == 1) {
    plans.push_back(begun);
    return;
  }
  for (const Way way : {Way::slices, Way::brief, Way::bucket}) {
    if (asked.dimensions[at].way.value_or(way) != way) continue;
    HybridPlan next = begun;
    next.dimensions[at].way = way;
    add_plans(plans, next, at + 1, asked);
  }
}

bool keeps_order(const HybridPlan& plan, Operation operation) {
  return operation == Operation::reduce_scatter ? plan.reduce_scatters_in_order() : plan.combines_in_order();
}

}  // namespace

std::vector<HybridPlan> hybrid_plans(Operation operation, const Facts& facts, bool in_order) {
  if (in_order && !facts.by_node) return {};
  const AskedPlan& asked = facts.asked_for.plans[static_cast<std::size_t>(operation)];
  std::vector<HybridPlan> plans;
  if (asked.says_lengths()) {
    if (const auto whole = complete_plan(asked, facts.ranks, facts.nodes, facts.even ? facts.most_on_node : 0)) {
      add_plans(plans, *whole, 0, asked);
    }
  } else if (facts.even) {
    for (const std::vector<int>& cut : grid_cuts(facts.most_on_node, facts.nodes)) {
      HybridPlan plan;
      for (std::size_t at = 0; at < cut.size(); ++at) plan.dimensions[at].length = cut[at];
      add_plans(plans, plan, 0, asked);
    }
  }
  if (in_order) std::erase_if(plans, [&](const HybridPlan& plan) { return !keeps_order(plan, operation); });
  return plans;
}

Facts facts_of_nodes(std::span<const std::uint32_t> nodes) {
  std::unordered_map<std::uint32_t, int> members;
  for (const std::uint32_t node : nodes) ++members[node];
  Facts facts;
  facts.ranks = static_cast<int>(nodes.size());
  facts.nodes = static_cast<int>(members.size());
  for (const auto& [node, count] : members) facts.most_on_node = std::max(facts.most_on_node, count);
  facts.on_first_node = members[nodes.front()];
  facts.even = facts.most_on_node * facts.nodes == facts.ranks;
  facts.crossings = crossings_of(nodes);
  int borders = 0;
  for (std::size_t rank = 1; rank < nodes.size(); ++rank) borders += nodes[rank] != nodes[rank - 1] ? 1 : 0;
  facts.by_node = borders == facts.nodes - 1;
  return facts;
}

}  // namespace margay::collectives
