// Losses in the trace of a finished run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace margay::command {

// Sentences on overwritten events, with the option that avoids them, and on lost definitions; at most eight ranks are
// named for either. Empty if nothing was lost. `files`: the trace files by rank; those that do not exist or belong to
// another run than `job` are skipped. With --trace-last only losses from the requested last seconds count.
[[nodiscard]] std::vector<std::string> trace_losses(const std::vector<std::string>& files, std::uint64_t job);

}  // namespace margay::command
