// The costs of each algorithm of an operation by length, and the choices: the data of the table and the picture of
// `margay info --collectives`. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/cost/facts.hpp"

namespace margay::collectives {

// The longest length in table and picture.
inline constexpr std::uint64_t kLongestShown = std::uint64_t{16} << 20;

// The time of a call of one length, by the cost formula.
struct CostPoint {
  std::uint64_t bytes;
  double seconds;
};

// The curve of one algorithm, over the lengths that it can do, in runs without gaps.
struct CostCurve {
  Algorithm algorithm;
  std::vector<std::vector<CostPoint>> runs;
};

// A range of lengths with one choice, in bytes, both ends included.
struct ChosenRange {
  std::uint64_t first, last;
  Algorithm algorithm;
};

// The curves and the choices of one operation.
struct OperationCosts {
  Operation operation;
  std::vector<CostCurve> curves;    // in the order of Algorithm
  std::vector<ChosenRange> chosen;  // ascending, from 1 byte (a barrier: 0) to kLongestShown
};

// The costs of an operation. A barrier has one point, at 0 bytes.
[[nodiscard]] OperationCosts costs_of(Operation operation, const Facts& facts);
// The operations with more than one algorithm.
[[nodiscard]] std::vector<Operation> operations_with_choice();
// The cost of each algorithm that can do the call, cheapest first.
struct CostOf {
  Algorithm algorithm;
  double seconds;
};
// By the rates of `facts`.
[[nodiscard]] std::vector<CostOf> costs_at(Operation operation, std::uint64_t bytes, const Facts& facts);
// One length of a range, with the alternatives there. It is the length for which the cost of its class is computed
// (LengthClass::judged_as), if the range contains that. `next`: the cheapest other algorithm that choose() could have
// taken; it can do this length and the shortest one of its class.
struct Compared {
  std::uint64_t bytes;
  std::optional<CostOf> chosen, next;  // chosen: nullopt if the algorithm cannot do `bytes`
};
[[nodiscard]] Compared compared_in(Operation operation, const ChosenRange& range, const Facts& facts);
// Format "2.3 us" and "64 KiB".
[[nodiscard]] std::string seconds_text(double seconds);
[[nodiscard]] std::string length_text(std::uint64_t bytes);

// The shortest length from which on the bucket broadcasts more cheaply than the tree, by the Paragon's rates, on
// `nodes` nodes with a rank each; 0: there is none. The paper says "larger than say 10 Kbytes" (section 3).
[[nodiscard]] std::uint64_t paragon_crossover(int nodes);

}  // namespace margay::collectives
