#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "command/trace/diff/difference.hpp"
#include "command/trace/export/timeline.hpp"
#include "sim/base/text.hpp"

namespace margay::command {

namespace {

// The most ranks of a critical path that a line lists.
constexpr std::size_t kPathRanksMost = 24;

// One measure of a row that differs.
struct Line {
  std::string name;
  std::string measure;
  std::string a;
  std::string b;
  std::string change;
};

std::string number_text(std::uint64_t number, SumUnit unit) {
  return unit == SumUnit::ns ? microseconds_text(number) : std::to_string(number);
}

// From this ratio on a change is printed as a ratio and not in percent.
constexpr double kRatioLeast = 10;

// "+12 (+16.7 %)", "+990 (x 100)"; without a share if A has none.
std::string change_text(std::uint64_t a, std::uint64_t b, SumUnit unit) {
  const char sign = b > a ? '+' : '-';
  const std::uint64_t by = b > a ? b - a : a - b;
  const std::string text = sign + number_text(by, unit);
  if (a == 0) return text;
  const double ratio = static_cast<double>(b) / static_cast<double>(a);
  if (ratio >= kRatioLeast) return fmt::format("{} (x {:.0f})", text, ratio);
  return fmt::format("{} ({}{:.1f} %)", text, sign, 100 * static_cast<double>(by) / static_cast<double>(a));
}

// The lines of one row; empty if it is equal.
std::vector<Line> lines_of(const DifferenceRow& row, const SumShape& shape) {
  std::vector<Line> lines;
  for (std::size_t i = 0; i < shape.measures.size(); ++i) {
    if (row.a[i] == row.b[i]) continue;
    const auto& [name, unit] = shape.measures[i];
    lines.push_back({lines.empty() ? row.name : "", fmt::format("{}{}", name, unit == SumUnit::ns ? " (us)" : ""),
                     number_text(row.a[i], unit), number_text(row.b[i], unit), change_text(row.a[i], row.b[i], unit)});
  }
  return lines;
}

// A section as a table with a heading; nothing if all of its rows are equal.
void put_section(const DifferenceSection& section, std::size_t rows_most, std::vector<std::string>& text) {
  const SumShape& shape = shape_of(section.section);
  std::vector<Line> lines{{std::string(shape.title), "", "A", "B", "B - A"}};
  std::size_t differing = 0;
  for (const DifferenceRow& row : section.rows) {
    std::vector<Line> of_row = lines_of(row, shape);
    if (of_row.empty() || differing++ >= rows_most) continue;
    of_row.front().name.insert(0, "  ");
    std::move(of_row.begin(), of_row.end(), std::back_inserter(lines));
  }
  if (differing == 0) return;
  const auto width = [&lines](std::string Line::*column) {
    std::size_t most = 0;
    for (const Line& line : lines) most = std::max(most, (line.*column).size());
    return most;
  };
  const std::size_t name = width(&Line::name), measure = width(&Line::measure), a = width(&Line::a),
                    b = width(&Line::b), change = width(&Line::change);
  text.emplace_back();
  for (const Line& line : lines) {
    text.push_back(fmt::format("{:<{}}  {:<{}}  {:>{}}  {:>{}}  {:>{}}", line.name, name, line.measure, measure, line.a,
                               a, line.b, b, line.change, change));
  }
  const std::size_t hidden = differing - std::min(differing, rows_most), equal = section.rows.size() - differing;
  if (hidden != 0) {
    text.push_back(fmt::format("  {}; --count {} prints all",
                               sim::counted(hidden, "more row differs", "more rows differ"), differing));
  }
  if (equal != 0) text.push_back(fmt::format("  {}", sim::counted(equal, "row is equal", "rows are equal")));
}

std::string path_text(const std::vector<std::uint32_t>& path) {
  const std::size_t shown = std::min(path.size(), kPathRanksMost);
  std::string text =
      fmt::format("{}", fmt::join(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(shown), " > "));
  if (shown < path.size()) text += fmt::format(" > ... ({} more)", path.size() - shown);
  return text.empty() ? "none" : text;
}

std::string verdict(const Difference& difference) {
  if (!difference.has_equal_counts) return "The runs differ.";
  return difference.has_equal_times ? "The runs are equal, in all counts and times."
                                    : "The runs are equal in all counts, and differ in times.";
}

}  // namespace

std::vector<std::string> difference_lines(const Difference& difference, std::size_t rows_most) {
  std::vector<std::string> text;
  const auto put_run = [&text](char letter, const RunSums& run) {
    text.push_back(fmt::format("{}: {}: {}, {} time", letter, sim::for_terminal(run.folder),
                               sim::counted(run.ranks, "rank"), run.is_virtual ? "virtual" : "real"));
    for (const std::string& note : run.notes) text.push_back(fmt::format("   note: {}", note));
  };
  put_run('A', difference.a);
  put_run('B', difference.b);
  text.push_back(verdict(difference));
  if (difference.a.ranks != difference.b.ranks)
    text.emplace_back("The numbers of ranks differ, so pairs and ranks are not compared.");
  for (const DifferenceSection& section : difference.sections) put_section(section, rows_most, text);
  if (difference.a.path != difference.b.path) {
    text.emplace_back();
    text.push_back("ranks that the critical path passes");
    text.push_back(fmt::format("  A: {}", path_text(difference.a.path)));
    text.push_back(fmt::format("  B: {}", path_text(difference.b.path)));
  }
  return text;
}

}  // namespace margay::command
