#include "command/trace/diff/difference.hpp"

#include <algorithm>
#include <utility>

namespace margay::command {

namespace {

std::uint64_t distance(std::uint64_t one, std::uint64_t other) {
  return one > other ? one - other : other - one;
}

// Differences, that by which the section is sorted first.
std::vector<std::uint64_t> sort_key(const DifferenceRow& row, const SumShape& shape) {
  std::vector<std::uint64_t> key{distance(row.a[shape.sort], row.b[shape.sort])};
  for (std::size_t i = 0; i < row.a.size(); ++i) key.push_back(distance(row.a[i], row.b[i]));
  return key;
}

DifferenceSection compare_section(SumSection section, const SumRows& a, const SumRows& b) {
  const SumShape& shape = shape_of(section);
  SumRows in_both = a;
  for (const auto& [key, numbers] : b) in_both.try_emplace(key, std::vector<std::uint64_t>(numbers.size()));
  DifferenceSection result{section, {}};
  for (auto& [key, numbers] : in_both) {
    const auto other = b.find(key);
    result.rows.push_back({key.second, std::move(numbers),
                           other == b.end() ? std::vector<std::uint64_t>(shape.measures.size()) : other->second});
  }
  std::stable_sort(result.rows.begin(), result.rows.end(),
                   [&shape](const auto& one, const auto& two) { return sort_key(one, shape) > sort_key(two, shape); });
  return result;
}

}  // namespace

Difference compare(RunSums a, RunSums b) {
  Difference difference{std::move(a), std::move(b), {}};
  for (std::size_t i = 0; i < kSumSections; ++i) {
    const auto section = static_cast<SumSection>(i);
    const SumShape& shape = shape_of(section);
    if (shape.is_of_ranks && difference.a.ranks != difference.b.ranks) continue;
    difference.sections.push_back(compare_section(section, difference.a.rows(section), difference.b.rows(section)));
    for (const DifferenceRow& row : difference.sections.back().rows) {
      for (std::size_t measure = 0; measure < shape.measures.size(); ++measure) {
        const bool is_time = shape.measures[measure].unit == SumUnit::ns;
        bool& are_equal = is_time ? difference.has_equal_times : difference.has_equal_counts;
        are_equal &= row.a[measure] == row.b[measure];
      }
    }
  }
  return difference;
}

}  // namespace margay::command
