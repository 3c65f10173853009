// Losses in the trace of a finished run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace margay::command {

// Sentences on overwritten events and lost definitions, at most eight ranks each, with the option that avoids them;
// empty if nothing was lost. `files`: the trace files by rank; those that do not exist or belong to another run than
// `job` are skipped. With --trace-last only losses within the requested end count.
[[nodiscard]] std::vector<std::string> trace_losses(const std::vector<std::string>& files, std::uint64_t job);

}  // namespace margay::command
