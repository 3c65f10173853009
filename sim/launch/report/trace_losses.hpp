// What the trace of a run that is over has lost.
#pragma once

#include <string>
#include <vector>

namespace margay::sim {

// `files`: the ranks' trace files, in the order of ranks; one that is not there is passed over. A sentence for each of
// the first ranks whose oldest events were overwritten, and what keeps them all. Nothing where nothing was lost, or no
// more than the end of the run was asked for.
[[nodiscard]] std::vector<std::string> trace_losses(const std::vector<std::string>& files);

}  // namespace margay::sim
