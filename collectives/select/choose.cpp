#include "collectives/select/choose.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "collectives/algorithm/registry.hpp"
#include "collectives/cost/counts.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/portal/tree_portal.hpp"
#include "portals/base/assert.hpp"

namespace margay::collectives {

namespace {

std::optional<Operation> operation_named(std::string_view text) {
  for (std::size_t at = 0; at < kOperationCount; ++at) {
    if (name(static_cast<Operation>(at)) == text) return static_cast<Operation>(at);
  }
  return std::nullopt;
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

portals::Status parse_requested_algorithms(std::string_view text, RequestedAlgorithms& out) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    // "a=b,,c=d" and a comma at the end are accepted.
    if (pair.empty()) continue;
    const std::string_view asked = pair.substr(0, pair.find('='));
    const std::string_view behind = pair.size() > asked.size() ? pair.substr(asked.size() + 1) : "";
    const std::string_view how = behind.substr(0, behind.find(':'));
    const std::optional<Operation> of = operation_named(asked);
    const std::string prefix = "--collective " + std::string(pair) + ": ";
    if (!of || algorithms_of(*of).empty()) {
      std::string known;
      for (std::size_t at = 0; at < kOperationCount; ++at) {
        const auto one = static_cast<Operation>(at);
        if (!algorithms_of(one).empty()) known += (known.empty() ? "" : ", ") + std::string(name(one));
      }
      return portals::Status::error(prefix + "invalid operation; there is a choice for " + known);
    }
    std::optional<Algorithm>& chosen = out[static_cast<std::size_t>(*of)];
    chosen.reset();
    for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
      const auto algorithm = static_cast<Algorithm>(at);
      if (name(algorithm) == how && does(algorithm, *of)) chosen = algorithm;
    }
    // Only a hybrid takes a plan behind its name.
    const bool plans = how.size() < behind.size();
    if (!chosen || (plans && chosen != Algorithm::hybrid)) {
      chosen.reset();
      return portals::Status::error(prefix + "invalid algorithm or plan; the values are " + std::string(asked) + "=" +
                                    algorithms_of(*of));
    }
    RequestedPlan& plan = out.plans[static_cast<std::size_t>(*of)] = {};
    if (!plans) continue;
    if (const portals::Status parsed = parse_plan(behind.substr(how.size() + 1), plan); !parsed.ok()) {
      return portals::Status::error(prefix + parsed.sentence());
    }
  }
  return {};
}

portals::Status parse_requested_rates(std::string_view text, Rates& out) {
  if (text == "paragon") {
    out = paragon_rates();
    return {};
  }
  if (text.empty() || text == "usual") {
    out = usual_rates();
    return {};
  }
  // Without "=" it is neither a text of rates nor a known name.
  if (text.find('=') == std::string_view::npos) {
    return portals::Status::error(
        "--rates " + std::string(text) +
        ": the values are usual, paragon, a file with a \"/\" in its name, and a text of rates, as `margay "
        "info --collectives` shows one");
  }
  return parse_rates(text, out);
}

Rates rates_of_job(std::string_view text) {
  Rates rates = usual_rates();
  static_cast<void>(parse_requested_rates(text, rates));
  return rates;
}

namespace {

// The cost of all short lengths is computed for 1 KiB, at which messages and turns still dominate the cost, not bytes.
constexpr std::uint64_t kShortJudgedAs = 1024;
// The factor by which a hybrid must be cheaper. It has many plans, and the one with the lowest computed cost is likely
// the one that the formulas underestimate most.
constexpr double kHybridHandicap = 1.1;

}  // namespace

LengthClass class_of(std::uint64_t bytes) {
  if (bytes <= kHandshakeBytes) return {0, 0, kHandshakeBytes, kShortJudgedAs};
  const auto above = static_cast<std::size_t>(std::bit_width((bytes - 1) / kHandshakeBytes));
  const std::size_t number = std::min(above, kLengthClasses - 1);
  const std::uint64_t longest = kHandshakeBytes << number;
  return {number, longest / 2 + 1, longest, longest};
}

namespace {

double seconds_of(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  return seconds(cost_of(algorithm, operation, bytes, facts, in_order), facts, facts.rates);
}

// Whether the algorithm supports the shortest length of the class. In the class of short lengths this is 0, so an
// algorithm that needs data is not chosen there.
bool can_some(Algorithm algorithm, Operation operation, const LengthClass& lengths, const Facts& facts, bool in_order) {
  return can(algorithm, operation, lengths.shortest, facts, in_order);
}

}  // namespace

ClassChoice choose_for(Operation operation, const LengthClass& lengths, const Facts& facts, bool in_order) {
  std::optional<Algorithm> best, of_all;
  double of_best = 0, of_of_all = 0;
  const std::uint64_t bytes = operation == Operation::barrier ? 0 : lengths.judged_as;
  for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
    const auto algorithm = static_cast<Algorithm>(at);
    if (!can_some(algorithm, operation, lengths, facts, in_order)) continue;
    const double takes = seconds_of(algorithm, operation, bytes, facts, in_order) *
                         (algorithm == Algorithm::hybrid ? kHybridHandicap : 1);
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
  // Every operation has an algorithm that supports all lengths on all communicators.
  MARGAY_ASSERT(of_all.has_value());
  return {*best, *of_all};
}

namespace {

template <typename OfClass>
Algorithm choose_by(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order, OfClass of_class) {
  // An algorithm that the user requested takes precedence over costs.
  const std::optional<Algorithm> asked = facts.requested[static_cast<std::size_t>(operation)];
  if (asked && can(*asked, operation, bytes, facts, in_order)) return *asked;
  // Tested with the call's own length, because `best` need not support all lengths of its class.
  const ClassChoice& choice = of_class(class_of(bytes));
  return can(choice.best, operation, bytes, facts, in_order) ? choice.best : choice.of_all;
}

}  // namespace

Algorithm choose(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  return choose_by(operation, bytes, facts, in_order,
                   [&](const LengthClass& lengths) { return choose_for(operation, lengths, facts, in_order); });
}

Chosen::Entry& Chosen::entry(Operation operation, const LengthClass& lengths, bool in_order) {
  std::unique_ptr<Classes>& classes = known_[static_cast<std::size_t>(operation)][in_order ? 1 : 0];
  if (!classes) classes = std::make_unique<Classes>();
  return (*classes)[lengths.number];
}

Algorithm Chosen::of(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  return choose_by(operation, bytes, facts, in_order, [&](const LengthClass& lengths) -> const ClassChoice& {
    std::optional<ClassChoice>& known = entry(operation, lengths, in_order).choice;
    if (!known) known = choose_for(operation, lengths, facts, in_order);
    return *known;
  });
}

HybridPlan Chosen::hybrid_plan(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  const LengthClass lengths = class_of(bytes);
  std::optional<HybridPlan>& known = entry(operation, lengths, in_order).plan;
  if (!known) known = cheapest_plan(operation, lengths.judged_as, facts, in_order);
  return *known;
}

}  // namespace margay::collectives
