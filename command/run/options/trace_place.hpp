// A check of the folder of --trace, made once before any rank runs.
#pragma once

#include <string>
#include <vector>

#include "command/run/options/run_options.hpp"

namespace margay::command {

// Creates each program's trace folder (a relative one in the program's working directory) and a test file in it, which
// is removed. Ok without --trace. Error: the folder cannot be created, does not belong to the user, has no room for a
// rank's file, or contains a trace of an earlier run.
[[nodiscard]] Status check_trace_place(const RunOptions& options);

// The absolute path of a trace folder for the program's ranks, which may change their directory before they use it. A
// relative one is in the program's working directory. Empty stays empty.
[[nodiscard]] std::string whole_trace_folder(const ProgramSpec& program, const std::string& folder);

}  // namespace margay::command
