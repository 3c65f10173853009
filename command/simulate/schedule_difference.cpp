#include "command/simulate/schedule_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace margay::command {
namespace {

// The most lines of output that a report has.
constexpr std::size_t kLinesMax = 20;

// Lines of `all` that are not in the longest common subsequence would be a smaller difference; but runs differ in few
// places, so the lines between the common beginning and the common end are shown.
struct Middle {
  std::size_t begin = 0;
  std::size_t first_end = 0;
  std::size_t second_end = 0;
};

Middle middle_of(const std::vector<std::string>& first, const std::vector<std::string>& second) {
  Middle middle{0, first.size(), second.size()};
  while (middle.begin < std::min(first.size(), second.size()) && first[middle.begin] == second[middle.begin])
    ++middle.begin;
  while (middle.first_end > middle.begin && middle.second_end > middle.begin &&
         first[middle.first_end - 1] == second[middle.second_end - 1]) {
    --middle.first_end;
    --middle.second_end;
  }
  return middle;
}

std::string marked(const std::vector<std::string>& lines, std::size_t begin, std::size_t end, char mark) {
  std::string text;
  for (std::size_t at = begin; at < std::min(end, begin + kLinesMax); ++at)
    text += fmt::format("  {} {}\n", mark, lines[at]);
  if (end > begin + kLinesMax) text += fmt::format("  {} ({} more lines)\n", mark, end - begin - kLinesMax);
  return text;
}

std::string status_text(const ScheduleRun& run) {
  return run.exceeded_limit ? "the limit of time" : fmt::format("exit status {}", run.exit_status);
}

// The lines of a text in a column. Longer ones are broken at a space, and continue with an indent.
std::vector<std::string> lines_in(std::string_view text, std::size_t columns) {
  constexpr std::size_t kIndent = 4;
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    while (line.size() > columns) {
      const std::size_t space = line.rfind(' ', columns);
      const std::size_t cut = space != std::string::npos && space > columns / 2 ? space : columns;
      lines.push_back(line.substr(0, cut));
      line = std::string(kIndent, ' ') + line.substr(cut + (cut == space ? 1 : 0));
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

std::optional<WildcardRace> find_race(const ScheduleRun& first, const ScheduleRun& second) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, const Decision*> of_first;
  for (const Decision& decision : first.decisions) of_first[{decision.choice.rank, decision.choice.number}] = &decision;
  for (const Decision& decision : second.decisions) {
    const auto found = of_first.find({decision.choice.rank, decision.choice.number});
    if (found != of_first.end() && found->second->choice.source != decision.choice.source)
      return WildcardRace{*found->second, decision};
  }
  return {};
}

std::vector<std::string> new_findings(const ScheduleRun& first, const ScheduleRun& second) {
  std::vector<std::string> ids;
  for (const std::string& id : second.findings)
    if (std::find(first.findings.begin(), first.findings.end(), id) == first.findings.end()) ids.push_back(id);
  return ids;
}

bool differ(const ScheduleRun& first, const ScheduleRun& second) {
  return first.exit_status != second.exit_status || first.exceeded_limit != second.exceeded_limit ||
         first.findings != second.findings || first.output != second.output;
}

std::string describe_difference(const ScheduleRun& first, const ScheduleRun& second) {
  std::string text;
  if (first.exit_status != second.exit_status || first.exceeded_limit != second.exceeded_limit)
    text += fmt::format("It ends with {}, not {}.\n", status_text(second), status_text(first));
  if (!new_findings(first, second).empty()) text += "Its errors:\n" + second.errors;
  if (first.output != second.output) {
    const Middle middle = middle_of(first.output, second.output);
    text += "Its output has the lines with +, not those with -:\n" +
            marked(first.output, middle.begin, middle.first_end, '-') +
            marked(second.output, middle.begin, middle.second_end, '+');
  }
  return text;
}

std::string side_by_side(const std::string& left, const std::string& right, std::size_t columns) {
  const std::vector<std::string> a = lines_in(left, columns), b = lines_in(right, columns);
  std::string text;
  for (std::size_t at = 0; at < std::max(a.size(), b.size()); ++at) {
    std::string line = fmt::format("{:<{}} | {}", at < a.size() ? a[at] : "", columns, at < b.size() ? b[at] : "");
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace margay::command
