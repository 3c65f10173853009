// The computation of a machine's rates from measured times of calls: each cost formula is solved for the rate that
// dominates the call. Pure; `margay calibrate` measures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/cost/rates.hpp"

namespace margay::collectives {

// Lengths of the measured calls, in bytes. A message of one word: nearly all of its time is start-up.
inline constexpr std::uint64_t kTimedMessage = 8;
// Two long messages, whose difference is the time of bytes.
inline constexpr std::uint64_t kTimedShorter = std::uint64_t{128} << 10;
inline constexpr std::uint64_t kTimedLonger = std::uint64_t{1} << 20;
// A row that is combined, within a processor's cache.
inline constexpr std::uint64_t kTimedRow = std::uint64_t{64} << 10;
// Data of an allreduce through shared memory: the longest of one barrier.
inline constexpr std::uint64_t kTimedShared = std::uint64_t{16} << 10;

// Measured times in seconds. nullopt: could not be measured.
struct CallTimes {
  // Broadcasts along the tree, between two ranks with a processor each, whose root changes each time.
  struct Pair {
    // A message of kTimedMessage bytes.
    double message;
    // Messages of kTimedShorter and kTimedLonger bytes.
    double shorter, longer;
    // Inside a node the time that each further message of several adds; between nodes the time for which its sender is
    // busy with it.
    double further;
  };
  // Inside a node, and between two.
  std::optional<Pair> inside, between;
  // One MPI_Reduce_local of kTimedRow bytes.
  std::optional<double> row;
  // Calls through shared memory, by two ranks with a processor each.
  struct Shared {
    double barrier;
    // Of kTimedShared bytes.
    double allreduce;
  };
  std::optional<Shared> shared;
  // Barriers of ranks that outnumber processors: by nodes, and through shared memory.
  struct Crowd {
    int ranks;
    // The processors that they share.
    double processors;
    double nodes, shared;
  };
  std::optional<Crowd> crowd;
};

// The result: all rates, and the names of the rates that were not measured.
struct SolvedRates {
  // Complete: also the rates that were not measured have a value.
  Rates rates;
  // Names of rates that keep their usual values, as in the rates' text.
  std::vector<std::string> unmeasured;
};

// Computes the rates. Measured ones are rounded to two digits, so that two calibrations of a quiet machine mostly
// agree.
[[nodiscard]] SolvedRates solve_rates(const CallTimes& times);

}  // namespace margay::collectives
