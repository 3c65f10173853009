// The choices of collective algorithms, told for `margay info --protocols`.
#pragma once

#include <string>
#include <vector>

namespace margay::collectives {

// For a job of `ranks` ranks on one node, each with a processor of its own or not (`crowded`); then for other facts
// that change the choice. Each line comes from choose() itself, with the usual rates.
[[nodiscard]] std::vector<std::string> describe_choices(unsigned ranks, bool crowded);

}  // namespace margay::collectives
