// A check of the folder of --trace, made once before any rank runs.
#pragma once

#include <string>
#include <vector>

#include "command/run/options/run_options.hpp"

namespace margay::command {

// Creates each program's trace folder; a relative path is relative to the program's working directory. Then creates and
// removes a test file in the folder. Without --trace it checks nothing and succeeds. Error: the folder cannot be
// created, does not belong to the user, has no room for a rank's file, or contains a trace of an earlier run.
[[nodiscard]] Status check_trace_folder(const RunOptions& options);

// The absolute path of a trace folder. The program's ranks need it because they may change their directory before they
// use it. A relative `folder` is relative to the program's working directory. An empty `folder` stays empty.
[[nodiscard]] std::string whole_trace_folder(const ProgramSpec& program, const std::string& folder);

}  // namespace margay::command
