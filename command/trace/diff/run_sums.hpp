// The sums of one run that a comparison uses: totals, and sums by protocol, call, pair of ranks, rank, and part of the
// critical path. All have one form, a section of rows of numbers, so that one function compares and prints them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/trace/read/reader.hpp"

namespace margay::command {

// The unit of a number. Times of two real runs always differ, so only counts and bytes decide whether runs are equal.
enum class SumUnit : std::uint8_t { count, bytes, ns };
// One number of a row: its name and its unit.
struct SumMeasure {
  std::string_view name;
  SumUnit unit = SumUnit::count;
};

// The name of a measure, and a number of it.
using SumNumber = std::pair<std::string_view, std::uint64_t>;

enum class SumSection : std::uint8_t { totals, protocols, calls, pairs, ranks, path, path_calls, path_ranks };
inline constexpr std::size_t kSumSections = 8;
// The form of a section's rows.
struct SumShape {
  // The name in JSON: "path_calls".
  std::string_view id;
  std::string_view title;
  std::span<const SumMeasure> measures;
  // Index of the measure by whose difference rows are sorted.
  std::size_t sort = 0;
  // Rows are ranks, so runs of different sizes are not comparable by it.
  bool is_of_ranks = false;
};
// The shapes by SumSection; docs/trace_diff.md has their meanings.
[[nodiscard]] const SumShape& shape_of(SumSection section);

// Numbers in the order of the shape's measures, by a number for the order of the rows, and the row's name.
using SumRows = std::map<std::pair<std::uint64_t, std::string>, std::vector<std::uint64_t>>;

struct RunSums {
  std::string folder;
  // Number of ranks of the run.
  std::uint32_t ranks = 0;
  // Its time is virtual, so that it may be equal in two runs.
  bool is_virtual = false;
  // Sentences about facts that the trace lacks, without a full stop.
  std::vector<std::string> notes;
  // CriticalPath::ranks().
  std::vector<std::uint32_t> path;
  std::array<SumRows, kSumSections> sections;

  [[nodiscard]] const SumRows& rows(SumSection section) const { return sections[static_cast<std::size_t>(section)]; }
  // Adds numbers to a row by the names of their measures. `order`: see SumRows. Requires: the section has the measures.
  void add(SumSection section, std::string name, std::initializer_list<SumNumber> numbers, std::uint64_t order = 0);
};

// Sums up a run. Cost: two stories for each message, and a few passes over the trace.
[[nodiscard]] RunSums sums_of(const std::string& folder, const Trace& trace);

}  // namespace margay::command
