// The picture of a comparison of simulated runs (`margay simulate --svg FILE`). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command/simulate/comparison.hpp"
#include "virtual_machine/model/run_report.hpp"

namespace margay::command {

// An SVG with a panel for each table, and in it a curve for each machine: virtual time against the values of the first
// sweep. That axis is logarithmic if all values are numbers above 0; the axis of times, equal in all panels, if the
// longest time is more than ten times the shortest one. A run without a result is a gap in its curve. `reports`: one
// for each run.
[[nodiscard]] std::string plot_comparison(const Comparison& comparison,
                                          const std::vector<virtual_machine::RunReport>& reports,
                                          std::string_view title);

}  // namespace margay::command
