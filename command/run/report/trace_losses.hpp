// Losses in the trace of a finished run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace margay::command {

// Sentences about overwritten events, with the option that avoids their loss, and about lost definitions. Each kind of
// loss is described for at most eight ranks. Empty if nothing was lost. `files`: the trace files by rank; a file that
// does not exist, or that belongs to another run than `job`, is skipped. With --trace-last only losses from the
// requested last seconds count.
[[nodiscard]] std::vector<std::string> trace_losses(const std::vector<std::string>& files, std::uint64_t job);

}  // namespace margay::command
