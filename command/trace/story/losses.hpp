// That the other rank of a message was lost, and how it ended.
#pragma once

#include <string>
#include <vector>

#include "command/trace/story/messages.hpp"

namespace margay::command {

// Sentences; none of a message that was received and whose send did not fail.
[[nodiscard]] std::vector<std::string> losses_told(const Trace& trace, const Messages& messages,
                                                   const MessageStory& story);

}  // namespace margay::command
