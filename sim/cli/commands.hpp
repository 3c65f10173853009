// The commands other than `run`.
#pragma once

#include <string>
#include <vector>

namespace margay::sim {

// What a layer above sim chooses, as lines for `margay info --protocols`. For a job of `ranks` ranks of which each has
// a processor, or not (`crowded`).
using DescribeChoices = std::vector<std::string> (*)(unsigned ranks, bool crowded);

// Parses the whole line and runs its command; the exit status.
[[nodiscard]] int run_cli(int argc, char** argv, const std::vector<DescribeChoices>& layers_above);

}  // namespace margay::sim
