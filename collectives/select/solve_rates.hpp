// A machine's rates out of how long calls took on it: each cost formula is solved for the one rate that the call shows
// most of. Pure; `margay calibrate` measures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/cost/rates.hpp"

namespace margay::collectives {

// What is measured, by these lengths.
inline constexpr std::uint64_t kTimedMessage = 8;
inline constexpr std::uint64_t kTimedShorter = std::uint64_t{128} << 10;
inline constexpr std::uint64_t kTimedLonger = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kTimedRow = std::uint64_t{64} << 10;
inline constexpr std::uint64_t kTimedShared = std::uint64_t{16} << 10;

// All in seconds, as `margay calibrate` has them. Nothing: it could not be measured.
struct CallTimes {
  // Broadcasts along the tree, between two ranks with a processor each, whose root changes each time.
  struct Pair {
    double message;  // kTimedMessage
    double shorter, longer;
    double further;  // what each further message of several takes, or its sender is busy with
  };
  std::optional<Pair> inside, between;
  std::optional<double> row;  // MPI_Reduce_local of kTimedRow
  // Through memory, by two ranks with a processor each.
  struct Shared {
    double barrier;
    double allreduce;  // of kTimedShared
  };
  std::optional<Shared> shared;
  // Barriers of ranks that outnumber processors, flat to one of them and through memory.
  struct Crowd {
    int ranks;
    double processors;
    double nodes, shared;
  };
  std::optional<Crowd> crowd;
};

struct SolvedRates {
  Rates rates;
  std::vector<std::string> unmeasured;  // names as in the text: those are the usual ones
};

// Each of two digits, so that two calibrations of a quiet machine mostly agree.
[[nodiscard]] SolvedRates solve_rates(const CallTimes& times);

}  // namespace margay::collectives
