// Whether the folder that --trace names can take this job's trace, asked once before any rank runs.
#pragma once

#include <string>
#include <vector>

#include "command/run/options/run_options.hpp"

namespace margay::command {

// Makes each program's trace folder (a relative one lies in the program's working folder) and tries a file in it. Ok
// without --trace. Error: it cannot be made, is not the user's own, has no room for a rank's file, or holds a trace of
// an earlier run.
[[nodiscard]] Status check_trace_place(const RunOptions& options);

// A trace folder as the program's ranks are to get it: from the root on, wherever they go before they make it. A
// relative one lies in the program's working folder. An empty one stays so.
[[nodiscard]] std::string whole_trace_folder(const ProgramSpec& program, const std::string& folder);

}  // namespace margay::command
