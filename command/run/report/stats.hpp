// Statistics of a finished job, from the board: the table of `--stats`, and the accounting law of `--check-accounting`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/boot/board.hpp"

namespace margay::command {

// Exit status of a job whose accounts do not balance.
inline constexpr int kStatusAccounting = 70;

// One line with the number of findings by each rank's checks; empty: none.
[[nodiscard]] std::string describe_findings(const sim::Board& board);

// The lines of the table: messages and bytes by protocol and by wire, accesses of windows by method (sums over ranks,
// zeros omitted), entries walked, drops by reason, the highest heap mark and its rank.
[[nodiscard]] std::vector<std::string> stats_table(const sim::Board& board);

// The outcome of the check.
struct AccountingResult {
  // False: a rank that called MPI_Init did not finish, so messages may be in flight.
  bool checked = false;
  std::size_t offending_pairs = 0;
  // Pairs of counters of libraries that are declared equal, and are not.
  std::size_t unequal_counters = 0;
  [[nodiscard]] bool fails() const { return offending_pairs + unequal_counters != 0; }
  // The lines to print: the first offending pairs, or the reason why nothing was checked.
  std::vector<std::string> lines;
};

// Checks the law for every ordered pair: sent = delivered + the sum of drops by reason. Also checks the counters of
// libraries that must have equal sums over all ranks.
[[nodiscard]] AccountingResult check_accounting(const sim::Board& board);

}  // namespace margay::command
