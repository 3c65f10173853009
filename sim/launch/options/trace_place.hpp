// Whether the folder that --trace names can take this job's trace, asked once before any rank runs.
#pragma once

#include <string>
#include <vector>

#include "sim/launch/options/run_options.hpp"

namespace margay::sim {

// Makes each program's trace folder (a relative one lies in the program's working folder) and tries a file in it. Ok
// without --trace. Error: it cannot be made, is not the user's own, has no room for a rank's file, or holds a trace of
// an earlier run.
[[nodiscard]] Status check_trace_place(const RunOptions& options);

// What --trace names; empty without it.
[[nodiscard]] std::string trace_folder(const RunOptions& options);
// Where the ranks' files lie that were told `folder`, in the order of ranks; nothing without one.
[[nodiscard]] std::vector<std::string> trace_files(const RunOptions& options, const std::string& folder);

}  // namespace margay::sim
