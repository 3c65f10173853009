// The story of the message that a wildcard took, from the trace of its run.
#pragma once

#include <string>

#include "command/simulate/choice_tree.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// Lines. Requires: the run was traced into `folder`. Error: the trace cannot be read, or does not have the message.
[[nodiscard]] portals::Status story_of(const std::string& folder, const Decision& decision, std::string& out);

}  // namespace margay::command
