// The difference of two runs, section by section, as text and as JSON (docs/trace_diff.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "command/trace/diff/run_sums.hpp"

namespace margay::command {

// The numbers of one row in both runs, in the order of the section's measures; a run without the row has zeros.
struct DifferenceRow {
  std::string name;
  std::vector<std::uint64_t> a;
  std::vector<std::uint64_t> b;
};
struct DifferenceSection {
  SumSection section = SumSection::totals;
  // All rows of both runs. Rows with the largest differences are first: by the section's measure for sorting, then by
  // the others.
  std::vector<DifferenceRow> rows;
};
struct Difference {
  RunSums a;
  RunSums b;
  // Without the sections of ranks if the runs have different numbers of ranks.
  std::vector<DifferenceSection> sections;
  // Whether all counts and bytes are equal; whether all times are.
  bool has_equal_counts = true;
  bool has_equal_times = true;
};
[[nodiscard]] Difference compare(RunSums a, RunSums b);

// The lines of a table for people: a line for each measure that differs, of at most `rows_most` rows of a section.
[[nodiscard]] std::vector<std::string> difference_lines(const Difference& difference, std::size_t rows_most);
// The same with all rows, also equal ones. One line.
[[nodiscard]] std::string difference_json(const Difference& difference);

}  // namespace margay::command
