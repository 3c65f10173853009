// The report of the two schedules of an exploration whose results differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command/simulate/schedule.hpp"

namespace margay::command {

// A wildcard that took the message of another source in one of two runs.
struct WildcardRace {
  Decision first;
  Decision second;
};

// The first such wildcard of `second`; empty: there is none.
[[nodiscard]] std::optional<WildcardRace> find_race(const ScheduleRun& first, const ScheduleRun& second);

// The findings of `second` that `first` does not have.
[[nodiscard]] std::vector<std::string> new_findings(const ScheduleRun& first, const ScheduleRun& second);

// Whether the results differ: exit status, findings, limit of time, or output.
[[nodiscard]] bool differ(const ScheduleRun& first, const ScheduleRun& second);

// Lines: the differences of results, with the lines of output that only one run has.
[[nodiscard]] std::string describe_difference(const ScheduleRun& first, const ScheduleRun& second);

// Two texts side by side, each `columns` wide; longer lines continue on the next one. Requires:
// columns > 4, the indent of a continued line.
[[nodiscard]] std::string side_by_side(const std::string& left, const std::string& right, std::size_t columns);

}  // namespace margay::command
