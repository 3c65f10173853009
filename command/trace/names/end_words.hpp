// Phrases on how a rank ended, for ranks that did not close their file themselves or died afterwards.
#pragma once

#include <string>
#include <vector>

#include "command/trace/read/reader.hpp"

namespace margay::command {

// A predicate for "rank 3 ...". Of a file that the launcher closed: "was killed by signal 9 (SIGKILL)", "ended with
// exit status 3 and did not close its trace". Of one that its rank had closed: "closed its trace, and was killed later
// by signal 9 (SIGKILL)". "": nothing notable.
[[nodiscard]] std::string end_text(const TraceFile& file);
// One sentence on files that neither their rank nor the launcher closed: it lists their ranks, at most eight, and warns
// that damage in them cannot be detected, because they have no checksum. "" where there are none.
[[nodiscard]] std::string unsealed_text(const std::vector<TraceFile>& files);

}  // namespace margay::command
