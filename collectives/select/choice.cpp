#include "collectives/select/choice.hpp"

#include <algorithm>

#include "collectives/portal/post.hpp"
#include "collectives/portal/tree_portal.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::collectives {

namespace {

// In an exchange all ranks combine all data in each round, and a node's leader moves every rank's data itself: up to
// here the fewer rounds and turns count more. It is where the messages change too (a receiver asks for longer ones), so
// that ranks which name different lengths, both short, still meet.
constexpr std::uint64_t kShortBytes = kHandshakeBytes;
// What is shown to others in memory is short, too: ranks that take the call for a long one ask or offer, which those
// that wait in memory hear.
static_assert(sim::kMeetingPartBytes == kShortBytes);
// Between nodes each slice costs two messages, its receiver's word and itself: up to here the tree's fewer ones count
// more than that it moves the whole row log p times.
constexpr std::uint64_t kNodesBytes = std::uint64_t{1} << 20;

constexpr std::array<std::string_view, kOperationCount> kOperationNames{
    "barrier",        "bcast", "reduce", "allreduce",          "gather",           "allgather", "scatter", "alltoall",
    "reduce_scatter", "scan",  "exscan", "neighbor_allgather", "neighbor_alltoall"};

constexpr std::string_view kSharedReason =
    "one node: each rank writes and reads memory that all see, and sends nothing";

// Of two ranks, up to here the root is done with a row by itself before halves have gone both ways.
constexpr std::uint64_t kTwoRanksBytes = std::uint64_t{128} << 10;

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

namespace {

// Which algorithms there are for an operation.
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
      return algorithm == Algorithm::tree || algorithm == Algorithm::shared;
    case Operation::alltoall:
      return algorithm == Algorithm::direct || algorithm == Algorithm::shared;
    case Operation::scan:
    case Operation::exscan:
      return algorithm == Algorithm::exchange || algorithm == Algorithm::shared || algorithm == Algorithm::chain;
    default:
      return false;
  }
}

// Data of no bytes has nothing to cut.
bool can_hybrid(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  const std::optional<HybridPlan> plan = hybrid_plan(operation, facts);
  if (!plan || bytes == 0) return false;
  if (!in_order) return true;
  return facts.by_node &&
         (operation == Operation::reduce_scatter ? plan->reduce_scatters_in_order() : plan->combines_in_order());
}

// Whether it can do this call. Flat reductions and gathers take rows that nobody asks for; over several nodes their
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
        return facts.strips && bytes <= kPostedBytes;
      case Operation::scatter:
        return facts.strips && bytes <= kPostedBytes / static_cast<std::uint64_t>(facts.ranks);
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

Choice select_best(Operation operation, std::uint64_t bytes, const Facts& facts);

Choice select_allgather(std::uint64_t bytes, const Facts& facts) {
  if (facts.ranks == 2) return {Algorithm::exchange, "two ranks are done in one round"};
  if (bytes > kShortBytes) return {Algorithm::direct, "the blocks are long: each moves once to each rank"};
  if (facts.nodes == 1 && facts.crowded) {
    return {Algorithm::nodes, "ranks outnumber processors: each is scheduled once, not once for each level of a tree"};
  }
  return {Algorithm::tree, "the blocks are short: few messages, in and out along a tree"};
}

Choice select_scan(Operation operation, std::uint64_t bytes, const Facts& facts) {
  if (facts.strips && bytes <= kPostedBytes && (facts.crowded || facts.ranks == 2))
    return {Algorithm::shared, kSharedReason};
  if (facts.ranks == 2) return {Algorithm::chain, "two ranks: one message"};
  if (bytes > kShortBytes) return {Algorithm::chain, "the data is long: each piece is added and sent on, once a rank"};
  if (facts.crowded) return {Algorithm::chain, "ranks outnumber processors: each waits for the one before it alone"};
  if (can(Algorithm::shared, operation, bytes, facts, false)) return {Algorithm::shared, kSharedReason};
  return {Algorithm::exchange, "a processor for each rank: as few rounds as can be"};
}

}  // namespace

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

std::optional<HybridPlan> hybrid_plan(Operation operation, const Facts& facts) {
  const AskedPlan& asked = facts.asked_for.plans[static_cast<std::size_t>(operation)];
  return complete_plan(asked, facts.ranks, facts.nodes, facts.even ? facts.most_on_node : 0);
}

Choice select(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  const std::optional<Algorithm> asked = facts.asked_for[static_cast<std::size_t>(operation)];
  if (asked && can(*asked, operation, bytes, facts, in_order)) return {*asked, "--collective asks for it"};
  const Choice best = select_best(operation, bytes, facts);
  if (can(best.algorithm, operation, bytes, facts, in_order)) return best;
  if (best.algorithm == Algorithm::hybrid) {
    return {Algorithm::direct, "the operation does not commute, and the data is long: slices, in the order of ranks"};
  }
  return {Algorithm::tree, "the operation does not commute: the tree keeps the order of ranks"};
}

namespace {

Choice select_best(Operation operation, std::uint64_t bytes, const Facts& facts) {
  const bool rooted = operation == Operation::bcast || operation == Operation::reduce ||
                      operation == Operation::gather || operation == Operation::scatter;
  if (rooted && can(Algorithm::shared, operation, bytes, facts, false) && (facts.crowded || bytes <= kShortBytes)) {
    return {Algorithm::shared, "one node: who has data writes it where all see it, and waits for nobody"};
  }
  if (operation == Operation::gather || operation == Operation::scatter) {
    if (operation == Operation::gather && bytes > kShortBytes)
      return {Algorithm::direct, "the blocks are long: each goes once, to where it belongs"};
    return {Algorithm::tree, "the blocks are short: few messages, along a tree"};
  }
  if (operation == Operation::scan || operation == Operation::exscan) return select_scan(operation, bytes, facts);
  if (does(Algorithm::shared, operation) && can(Algorithm::shared, operation, bytes, facts, false)) {
    const bool many_pairs =
        operation == Operation::alltoall && bytes * static_cast<std::uint64_t>(facts.ranks) > sim::kStripBytes;
    if (bytes <= kShortBytes && !many_pairs) return {Algorithm::shared, kSharedReason};
    if (facts.crowded && !many_pairs) {
      return {Algorithm::shared, "one node, ranks outnumber processors: strip by strip through memory that all see"};
    }
  }
  if (operation == Operation::allgather) return select_allgather(bytes, facts);
  if (operation == Operation::alltoall) return {Algorithm::direct, "each block goes once, to where it belongs"};
  const bool everybody_gets = operation == Operation::barrier || operation == Operation::allreduce;
  if (facts.ranks == 2 && everybody_gets && bytes <= kShortBytes) {
    return {Algorithm::exchange, "two ranks are done in one round"};
  }
  if (facts.crowded && bytes <= kShortBytes) {
    return {Algorithm::nodes, "ranks outnumber processors: each is scheduled once, not once for each level of a tree"};
  }
  const bool halves_pay = operation == Operation::allreduce || operation == Operation::reduce_scatter ||
                          (operation == Operation::reduce && (facts.ranks > 2 || bytes > kTwoRanksBytes));
  if (operation == Operation::allreduce && bytes >= kNodesBytes && facts.nodes > 1 && facts.most_on_node > 1 &&
      facts.even) {
    return {Algorithm::hybrid, "the data is long: slices inside a node, and of them slices between nodes"};
  }
  if (halves_pay && bytes > (facts.nodes > 1 ? kNodesBytes : kShortBytes) && facts.ranks > 1) {
    return {Algorithm::direct, "the data is long: each rank combines its slice, and all do at once"};
  }
  if (facts.crowded) return {Algorithm::tree, "ranks outnumber processors, and the data is long for one leader"};
  const bool levels = facts.nodes > 1 && facts.most_on_node > 1 && facts.most_on_node <= kNodesMembers;
  if (levels && bytes <= kShortBytes) {
    return {Algorithm::nodes, "a message between nodes costs more than all of those inside one"};
  }
  if (everybody_gets && bytes <= kShortBytes) {
    return {Algorithm::exchange, "a processor for each rank: half the rounds of in and out along a tree"};
  }
  return {Algorithm::tree,
          everybody_gets ? "the data is long: each byte moves once up and once down" : "one root: the fewest rounds"};
}

}  // namespace

}  // namespace margay::collectives
