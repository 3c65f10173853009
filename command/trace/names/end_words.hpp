// Phrases about the end of a rank that did not close its file, or that ended after it had closed its file.
#pragma once

#include <string>
#include <vector>

#include "command/trace/read/reader.hpp"

namespace margay::command {

// A predicate for "rank 3 ...". For a file that the launcher closed: "was killed by signal 9 (SIGKILL)", "ended with
// exit status 3 and did not close its trace". For a file that its rank had closed: "closed its trace, and was killed
// later by signal 9 (SIGKILL)". "": nothing notable.
[[nodiscard]] std::string end_text(const TraceFile& file);
// One sentence about files that neither their rank nor the launcher closed. It lists their ranks, at most eight, and
// warns that damage in these files cannot be detected, because they have no checksum. "": there are no such files.
[[nodiscard]] std::string unsealed_text(const std::vector<TraceFile>& files);

}  // namespace margay::command
