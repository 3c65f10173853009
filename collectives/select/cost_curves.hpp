// What each algorithm of an operation costs a group, by length, and which one is chosen where: for the table and the
// picture of `margay info --collectives`. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/cost/facts.hpp"

namespace margay::collectives {

inline constexpr std::uint64_t kLongestShown = std::uint64_t{16} << 20;

struct CostPoint {
  std::uint64_t bytes;
  double seconds;
};

// Of the lengths that the algorithm can do, each run of them without a hole.
struct CostCurve {
  Algorithm algorithm;
  std::vector<std::vector<CostPoint>> runs;
};

// Lengths with one choice.
struct ChosenRange {
  std::uint64_t first, last;
  Algorithm algorithm;
};

struct OperationCosts {
  Operation operation;
  std::vector<CostCurve> curves;    // in the order of Algorithm
  std::vector<ChosenRange> chosen;  // ascending, from 1 byte (a barrier: 0) to kLongestShown
};

// A barrier has no lengths: it is there once, with 0 bytes.
[[nodiscard]] OperationCosts costs_of(Operation operation, const Facts& facts);
// Those between which there is something to choose.
[[nodiscard]] std::vector<Operation> operations_with_choice();
// What each algorithm that can do the call takes, the least first.
struct CostOf {
  Algorithm algorithm;
  double seconds;
};
[[nodiscard]] std::vector<CostOf> costs_at(Operation operation, std::uint64_t bytes, const Facts& facts);
// One length of a range, and what the choice was between there. Above kHandshakeBytes the length is the one that its
// class is judged as. `next`: the cheapest other one that could have been chosen; what can do that length and not all
// of its class (choose) could not.
struct Compared {
  std::uint64_t bytes;
  std::optional<CostOf> chosen, next;  // chosen: none where nothing is known of its cost
};
[[nodiscard]] Compared compared_in(Operation operation, const ChosenRange& range, const Facts& facts);
// "2.3 us"; "64 KiB"
[[nodiscard]] std::string seconds_text(double seconds);
[[nodiscard]] std::string length_text(std::uint64_t bytes);

// What the paper says of long messages (section 3, "larger than say 10 Kbytes"), computed with the Paragon's rates: the
// shortest length from which on the bucket is the cheapest way to broadcast, on so many nodes with a rank each; 0:
// there is none.
[[nodiscard]] std::uint64_t paragon_crossover(int nodes);

}  // namespace margay::collectives
