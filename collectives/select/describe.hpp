// The choices of collective algorithms, told for `margay info --protocols`.
#pragma once

#include <string>
#include <vector>

namespace margay::collectives {

// For a job of `ranks` ranks on one node, each with a processor of its own or not (`crowded`); then for the other facts
// that change the choice, and the thresholds. Each line comes from select() itself.
[[nodiscard]] std::vector<std::string> describe_choices(unsigned ranks, bool crowded);

}  // namespace margay::collectives
