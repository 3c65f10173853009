// What is not known of a message because a rank's recording lacks it.
#pragma once

#include <string>
#include <vector>

#include "command/trace/story/messages.hpp"

namespace margay::command {

// Sentences; none where both ranks recorded their part.
[[nodiscard]] std::vector<std::string> gaps_told(const Trace& trace, const MessageStory& story);

}  // namespace margay::command
