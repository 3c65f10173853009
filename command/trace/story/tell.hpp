// The story of one message, from the call that sent it to the end, in words.
#pragma once

#include <string>

#include "command/trace/story/messages.hpp"
#include "command/trace/story/remembered_words.hpp"
#include "command/trace/story/words.hpp"

namespace margay::command {

// Lines, each with its end: what it is; its steps over all hops, with the time since the first and the rank; who waited
// how long for it; what is missing from the trace.
[[nodiscard]] std::string tell(const Trace& trace, const Messages& messages, const EventWords& words,
                               const MessageStory& story);
// The same, for many stories one after the other.
[[nodiscard]] std::string tell(const Trace& trace, const Messages& messages, const EventWords& words,
                               const MessageStory& story, RememberedWords& remembered);

// "0>1 #2: 300000 x MPI_CHAR, tag 8 from 0 in MPI_COMM_WORLD".
[[nodiscard]] std::string title(const Trace& trace, const EventWords& words, const MessageStory& story);

}  // namespace margay::command
