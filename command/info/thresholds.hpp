// The thresholds of point-to-point messages that are constants, each with its reason.
#pragma once

#include <string>
#include <vector>

namespace margay::command {

// Lines of `margay info --protocols`: threshold, value, reason or measurement.
[[nodiscard]] std::vector<std::string> describe_thresholds();

}  // namespace margay::command
