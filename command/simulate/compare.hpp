// `margay simulate --compare MACHINES --sweep NAME=VALUES`: the same program on several machines, or with several
// values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "command/simulate/program_start.hpp"

namespace margay::command {

struct CompareOrder {
  // Names with commas; empty: the settings' machine.
  std::string machines;
  std::vector<std::string> sweeps;
  // The picture's file; "-": standard output, without the table; empty: none.
  std::string svg;
  // Runs at a time.
  std::size_t jobs = 1;

  [[nodiscard]] bool is_wanted() const { return !machines.empty() || !sweeps.empty(); }
};

// Runs all combinations, of which `base` has the other options, and prints their virtual times. With a path in its
// settings, writes a report of all runs. Returns the exit status: that of the first run that failed, or 0. Errors have
// been printed.
[[nodiscard]] int compare(const CompareOrder& order, const SimulateOrder& base);

}  // namespace margay::command
