// The story of the message that a wildcard took, from the trace of its run.
#pragma once

#include <string>

#include "command/simulate/choice_tree.hpp"
#include "command/trace/story/event_text.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// Lines. Requires: the run was traced into `folder`. Error: the trace cannot be read, or does not have the message.
[[nodiscard]] portals::Status story_of(const std::string& folder, const Decision& decision, const CallSite& call_site,
                                       std::string& out);

}  // namespace margay::command
