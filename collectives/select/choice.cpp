#include "collectives/select/choice.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <unordered_map>

#include "collectives/portal/tree_portal.hpp"
#include "collectives/select/cost.hpp"
#include "portals/base/assert.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::collectives {

namespace {

constexpr std::uint64_t kShortBytes = kHandshakeBytes;
// What is shown to others in memory is short, too: ranks that take the call for a long one ask or offer, which those
// that wait in memory hear.
static_assert(sim::kMeetingPartBytes == kShortBytes);
// Short ones are judged as this: about where what they take still hangs on messages and turns, not on bytes.
constexpr std::uint64_t kShortJudgedAs = 1024;

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
      return algorithm == Algorithm::tree || algorithm == Algorithm::nodes || algorithm == Algorithm::bucket;
    case Operation::reduce:
      return algorithm == Algorithm::tree || algorithm == Algorithm::nodes || algorithm == Algorithm::direct;
    case Operation::allreduce:
      return algorithm != Algorithm::chain;
    case Operation::allgather:
      return algorithm != Algorithm::hybrid && algorithm != Algorithm::chain;
    case Operation::reduce_scatter:
      return algorithm != Algorithm::exchange && algorithm != Algorithm::hybrid && algorithm != Algorithm::chain;
    case Operation::alltoall:
      return algorithm == Algorithm::direct || algorithm == Algorithm::shared;
    case Operation::scan:
    case Operation::exscan:
      return algorithm == Algorithm::exchange || algorithm == Algorithm::shared || algorithm == Algorithm::chain;
    default:
      return false;
  }
}

// Flat reductions and gathers take rows that nobody asks for; over several nodes their
// ranks need not be neighbors, and a ring combines in an order of its own.
bool can(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  if (algorithm == Algorithm::shared) {
    const std::uint64_t blocks = operation == Operation::alltoall ? static_cast<std::uint64_t>(facts.ranks) : 1;
    return facts.shared && bytes <= sim::kMeetingPartBytes / blocks;
  }
  if (algorithm == Algorithm::hybrid && (in_order || !facts.even || bytes == 0)) return false;
  if (in_order && (algorithm == Algorithm::bucket || (algorithm == Algorithm::nodes && facts.nodes > 1))) return false;
  if (operation == Operation::allgather) {
    if (algorithm == Algorithm::exchange) return facts.ranks == 2;
    if (algorithm == Algorithm::nodes) return facts.nodes == 1 && bytes <= kShortBytes;
  }
  if (algorithm == Algorithm::nodes && operation != Operation::bcast) return bytes <= kShortBytes;
  if (operation == Operation::alltoall) return true;
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
    const std::string_view how = pair.size() > asked.size() ? pair.substr(asked.size() + 1) : "";
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
    if (!chosen) return portals::Status::error(words + "it is " + std::string(asked) + "=" + algorithms_of(of));
  }
  return {};
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
  return facts;
}

LengthClass class_of(std::uint64_t bytes) {
  if (bytes <= kShortBytes) return {0, 0, kShortBytes, kShortJudgedAs};
  const auto above = static_cast<std::size_t>(std::bit_width((bytes - 1) / kShortBytes));
  const std::size_t number = std::min(above, kLengthClasses - 1);
  const std::uint64_t longest = kShortBytes << number;
  return {number, longest / 2 + 1, longest, longest};
}

namespace {

double seconds_of(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts) {
  return seconds(cost_of(algorithm, operation, bytes, facts), facts, facts.rates);
}

// Whether it can do some length of the class: the shortest one there is for it, in which nothing is sent for a barrier.
bool can_some(Algorithm algorithm, Operation operation, const LengthClass& lengths, const Facts& facts, bool in_order) {
  return can(algorithm, operation, lengths.shortest, facts, in_order);
}

std::string microseconds(double seconds) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3g us", seconds * 1e6);
  return text.data();
}

}  // namespace

ClassChoice choose_for(Operation operation, const LengthClass& lengths, const Facts& facts, bool in_order) {
  std::optional<Algorithm> best, of_all;
  double of_best = 0, of_of_all = 0;
  const std::uint64_t bytes = operation == Operation::barrier ? 0 : lengths.judged_as;
  for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
    const auto algorithm = static_cast<Algorithm>(at);
    if (!does(algorithm, operation) || !can_some(algorithm, operation, lengths, facts, in_order)) continue;
    const double takes = seconds_of(algorithm, operation, bytes, facts);
    if (!best || takes < of_best) {
      best = algorithm;
      of_best = takes;
    }
    const bool all = can(algorithm, operation, lengths.longest, facts, in_order);
    if (all && (!of_all || takes < of_of_all)) {
      of_all = algorithm;
      of_of_all = takes;
    }
  }
  MARGAY_ASSERT(of_all.has_value());
  return {*best, *of_all};
}

namespace {

template <typename OfClass>
Algorithm choose_by(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order, OfClass of_class) {
  const std::optional<Algorithm> asked = facts.asked_for[static_cast<std::size_t>(operation)];
  if (asked && can(*asked, operation, bytes, facts, in_order)) return *asked;
  const ClassChoice& choice = of_class(class_of(bytes));
  return can(choice.best, operation, bytes, facts, in_order) ? choice.best : choice.of_all;
}

}  // namespace

Algorithm choose(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  return choose_by(operation, bytes, facts, in_order,
                   [&](const LengthClass& lengths) { return choose_for(operation, lengths, facts, in_order); });
}

Algorithm Chosen::of(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  return choose_by(operation, bytes, facts, in_order, [&](const LengthClass& lengths) -> const ClassChoice& {
    std::unique_ptr<Classes>& classes = known_[static_cast<std::size_t>(operation)][in_order ? 1 : 0];
    if (!classes) classes = std::make_unique<Classes>();
    std::optional<ClassChoice>& known = (*classes)[lengths.number];
    if (!known) known = choose_for(operation, lengths, facts, in_order);
    return *known;
  });
}

Choice select(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  const Algorithm chosen = choose(operation, bytes, facts, in_order);
  if (facts.asked_for[static_cast<std::size_t>(operation)] == chosen) return {chosen, "--collective asks for it"};
  const std::uint64_t judged_as = operation == Operation::barrier ? 0 : class_of(bytes).judged_as;
  std::string others;
  int count = 1;
  for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
    const auto algorithm = static_cast<Algorithm>(at);
    const bool able = does(algorithm, operation) && can(algorithm, operation, bytes, facts, in_order);
    if (!able || algorithm == chosen) continue;
    ++count;
    others += (others.empty() ? "; " : ", ") + std::string(name(algorithm)) + " " +
              microseconds(seconds_of(algorithm, operation, judged_as, facts));
  }
  const std::string takes = microseconds(seconds_of(chosen, operation, judged_as, facts));
  if (count == 1) return {chosen, "the only one: " + takes};
  return {chosen, "least of " + std::to_string(count) + ": " + takes + others};
}

}  // namespace margay::collectives
