// What the trace of a run that is over has lost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace margay::command {

// `files`: the ranks' trace files, in the order of ranks; one that is not there, or is of another run than `job`, is
// passed over. A sentence for each of the first ranks whose oldest events were overwritten, or of the end that was
// asked for (--trace-last) a part, and what keeps them all; and for those that had no room for names. Nothing where
// nothing was lost.
[[nodiscard]] std::vector<std::string> trace_losses(const std::vector<std::string>& files, std::uint64_t job);

}  // namespace margay::command
