// What the board says at a job's end: the table of `--stats`, and the accounting law of `--check-accounting`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/boot/board.hpp"

namespace margay::command {

inline constexpr int kStatusAccounting = 70;

// One line on how many mistakes of the program the checks of each rank have told; empty: none.
[[nodiscard]] std::string describe_findings(const sim::Board& board);

// The table, a line each: messages and bytes by protocol and by wire, accesses of windows by way (sums over ranks, what
// is 0 left out), entries walked, drops by reason, the highest heap mark and its rank.
[[nodiscard]] std::vector<std::string> stats_table(const sim::Board& board);

struct AccountingResult {
  bool checked = false;  // every rank that called MPI_Init finished it; otherwise messages may lie in between
  std::size_t offending_pairs = 0;
  std::vector<std::string> lines;  // what to print: the first offending pairs, or why nothing was checked
};

// The law: for every ordered pair, sent = delivered + sum of dropped by reason.
[[nodiscard]] AccountingResult check_accounting(const sim::Board& board);

}  // namespace margay::command
