// What is not known of a message because a rank's recording lacks it.
#pragma once

#include <string>
#include <vector>

#include "sim/trace/story/messages.hpp"

namespace margay::sim {

// Sentences; none where both ranks recorded their part.
[[nodiscard]] std::vector<std::string> gaps_told(const Trace& trace, const MessageStory& story);

}  // namespace margay::sim
