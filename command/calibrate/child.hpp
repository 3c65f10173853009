// This command started again, as `margay run`, with its output read.
#pragma once

#include <string>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

// Runs `margay WORDS...` to its end on at most `processors` processors. No variable MARGAY_* of the user's reaches it
// but those that say where shared memory lies; `collective` goes into MARGAY_COLLECTIVE. Error: it could not be
// started, or failed; with the first line of what it said.
[[nodiscard]] portals::Status run_margay(const std::vector<std::string>& words, const std::string& collective,
                                         int processors, std::string& output);

}  // namespace margay::command
