// How the ranks of a trace ended, where they did not close their files themselves.
#pragma once

#include <string>
#include <vector>

#include "command/trace/read/reader.hpp"

namespace margay::command {

// "was killed by signal 9 (SIGKILL)", "ended with exit status 3 and did not close its trace", of a file that the
// launcher closed; "closed its trace, and was killed later by signal 9 (SIGKILL)" of one that its rank had closed; ""
// of others.
[[nodiscard]] std::string end_words(const TraceFile& file);
// Of files that nobody closed: a sentence which names their ranks and says that no damage can be seen in them. "" where
// there are none.
[[nodiscard]] std::string unsealed_words(const std::vector<TraceFile>& files);

}  // namespace margay::command
