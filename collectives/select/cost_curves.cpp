#include "collectives/select/cost_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "collectives/algorithm/registry.hpp"
#include "collectives/cost/counts.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/portal/tree_portal.hpp"
#include "collectives/select/choose.hpp"

namespace margay::collectives {

namespace {

// The lengths of the table: powers of two, from 4 on three lengths between each two powers, and the first length for
// which receivers send ready notices.
std::vector<std::uint64_t> shown_lengths() {
  std::vector<std::uint64_t> lengths{1, 2, 3};
  for (std::uint64_t power = 4; power <= kLongestShown; power *= 2) {
    for (std::uint64_t quarter = 4; quarter < 8; ++quarter) {
      if (power * quarter / 4 <= kLongestShown) lengths.push_back(power * quarter / 4);
    }
  }
  lengths.push_back(kHandshakeBytes + 1);
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

// The last length with the choice of `low`; `high` has another one. Binary search.
std::uint64_t last_alike(Operation operation, std::uint64_t low, std::uint64_t high, const Facts& facts) {
  const Algorithm algorithm = choose(operation, low, facts);
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (choose(operation, middle, facts) == algorithm ? low : high) = middle;
  }
  return low;
}

void add_range(std::vector<ChosenRange>& ranges, std::uint64_t bytes, Algorithm algorithm) {
  if (!ranges.empty() && ranges.back().algorithm == algorithm) {
    ranges.back().last = bytes;
  } else {
    ranges.push_back({bytes, bytes, algorithm});
  }
}

// The ranges of lengths with one choice. Between two shown lengths with different choices it searches the exact
// borders, of which there may be several.
std::vector<ChosenRange> chosen_ranges(Operation operation, const std::vector<std::uint64_t>& lengths,
                                       const Facts& facts) {
  std::vector<ChosenRange> ranges;
  std::uint64_t before = lengths.front();
  for (const std::uint64_t bytes : lengths) {
    const Algorithm algorithm = choose(operation, bytes, facts);
    while (!ranges.empty() && ranges.back().algorithm != algorithm) {
      before = last_alike(operation, before, bytes, facts);
      ranges.back().last = before;
      if (before + 1 == bytes) break;
      ++before;
      add_range(ranges, before, choose(operation, before, facts));
    }
    add_range(ranges, bytes, algorithm);
    before = bytes;
  }
  return ranges;
}

// Lengths that the algorithm cannot do end a run, so that no line is drawn across the gap.
CostCurve curve_of(Algorithm algorithm, Operation operation, const std::vector<std::uint64_t>& lengths,
                   const Facts& facts) {
  CostCurve curve{algorithm, {}};
  bool open = false;
  for (const std::uint64_t bytes : lengths) {
    if (!can(algorithm, operation, bytes, facts)) {
      open = false;
      continue;
    }
    if (!open) curve.runs.emplace_back();
    open = true;
    curve.runs.back().push_back({bytes, seconds(cost_of(algorithm, operation, bytes, facts), facts, facts.rates)});
  }
  return curve;
}

}  // namespace

std::vector<Operation> operations_with_choice() {
  std::vector<Operation> operations;
  for (std::size_t at = 0; at < kOperationCount; ++at) {
    const auto operation = static_cast<Operation>(at);
    if (algorithms_of(operation).find('|') != std::string::npos) operations.push_back(operation);
  }
  return operations;
}

OperationCosts costs_of(Operation operation, const Facts& facts) {
  std::vector<std::uint64_t> lengths =
      operation == Operation::barrier ? std::vector<std::uint64_t>{0} : shown_lengths();
  OperationCosts costs{operation, {}, chosen_ranges(operation, lengths, facts)};
  // The borders are points of the curves, so that chosen parts join.
  for (const ChosenRange& range : costs.chosen) lengths.insert(lengths.end(), {range.first, range.last});
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
    const auto algorithm = static_cast<Algorithm>(at);
    if (!does(algorithm, operation)) continue;
    CostCurve curve = curve_of(algorithm, operation, lengths, facts);
    if (!curve.runs.empty()) costs.curves.push_back(std::move(curve));
  }
  return costs;
}

std::vector<CostOf> costs_at(Operation operation, std::uint64_t bytes, const Facts& facts) {
  std::vector<CostOf> costs;
  for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
    const auto algorithm = static_cast<Algorithm>(at);
    if (!does(algorithm, operation) || !can(algorithm, operation, bytes, facts)) continue;
    costs.push_back({algorithm, seconds(cost_of(algorithm, operation, bytes, facts), facts, facts.rates)});
  }
  std::stable_sort(costs.begin(), costs.end(), [](const CostOf& a, const CostOf& b) { return a.seconds < b.seconds; });
  return costs;
}

namespace {

// The power of two in the middle of the range, or the range's end if it contains none. In a range of short lengths, the
// length for which the cost of their class is computed, or the nearest length in the range.
std::uint64_t middle_of(const ChosenRange& range) {
  if (range.last <= kHandshakeBytes) return std::clamp(class_of(range.last).judged_as, range.first, range.last);
  const std::uint64_t first = std::max(range.first, kHandshakeBytes + 1);
  const double middle = std::sqrt(static_cast<double>(first) * static_cast<double>(range.last));
  const std::uint64_t power = std::bit_floor(static_cast<std::uint64_t>(middle));
  return power >= first ? power : range.last;
}

}  // namespace

Compared compared_in(Operation operation, const ChosenRange& range, const Facts& facts) {
  Compared result{middle_of(range), std::nullopt, std::nullopt};
  const std::uint64_t shortest = class_of(result.bytes).shortest;
  for (const CostOf& one : costs_at(operation, result.bytes, facts)) {
    if (one.algorithm == range.algorithm) {
      result.chosen = one;
    } else if (!result.next && can(one.algorithm, operation, shortest, facts)) {
      result.next = one;
    }
  }
  return result;
}

std::string seconds_text(double seconds) {
  constexpr double kMany = 1000;
  const double us = seconds * 1e6;
  const double shown = us < kMany ? us : us / kMany;
  const std::string_view unit = us < kMany ? "us" : "ms";
  return shown < 10 ? fmt::format("{:.2g} {}", shown, unit) : fmt::format("{:.0f} {}", shown, unit);
}

std::string length_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKiB = 1024;
  constexpr std::uint64_t kMiB = kKiB * kKiB;
  if (bytes < kKiB) return fmt::format("{} B", bytes);
  const std::uint64_t unit = bytes < kMiB ? kKiB : kMiB;
  const std::string_view name = unit == kKiB ? "KiB" : "MiB";
  if (bytes % unit == 0) return fmt::format("{} {}", bytes / unit, name);
  return fmt::format("{:.3g} {}", static_cast<double>(bytes) / static_cast<double>(unit), name);
}

// Binary search, which assumes a single crossover.
std::uint64_t paragon_crossover(int nodes) {
  std::vector<std::uint32_t> node_of_rank(static_cast<std::size_t>(nodes));
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) node_of_rank[rank] = static_cast<std::uint32_t>(rank);
  Facts facts = facts_of_nodes(node_of_rank);
  facts.rates = paragon_rates();
  const auto bucket_wins = [&](std::uint64_t bytes) {
    const auto takes = [&](Algorithm algorithm) {
      return seconds(cost_of(algorithm, Operation::bcast, bytes, facts), facts, facts.rates);
    };
    return takes(Algorithm::bucket) < takes(Algorithm::tree);
  };
  std::uint64_t low = 0;
  std::uint64_t high = kLongestShown;
  if (nodes < 2 || !bucket_wins(high)) return 0;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (bucket_wins(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace margay::collectives
