// Who waited for whom: a message for its receive, a receive for its message, a header on its wire.
#pragma once

#include <string>
#include <vector>

#include "command/trace/story/messages.hpp"

namespace margay::command {

// Sentences, for how long each; none of a message that nobody saw arrive and nothing was before.
[[nodiscard]] std::vector<std::string> waits_told(const Trace& trace, const Messages& messages,
                                                  const MessageStory& story);
// The same of a body that its receiver asked for: until the sender saw that, and from there to its end.
[[nodiscard]] std::vector<std::string> pull_waits_told(const Trace& trace, const MessageStory& story);

}  // namespace margay::command
