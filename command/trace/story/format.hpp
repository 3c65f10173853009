// The story of one message, formatted: from the call that sent it to its end.
#pragma once

#include <string>

#include "command/trace/story/event_text.hpp"
#include "command/trace/story/event_text_cache.hpp"
#include "command/trace/story/messages.hpp"

namespace margay::command {

// Lines, each with its newline: a title; the steps over all hops with the time since the first (in microseconds) and
// the rank; sentences on waits and copies; gaps of the trace. `story` must come from `messages`, and both from `trace`.
[[nodiscard]] std::string format_story(const Trace& trace, const Messages& messages, const EventText& event_text,
                                       const MessageStory& story);
// The same for many stories: `cache` keeps the texts of repeated events.
[[nodiscard]] std::string format_story(const Trace& trace, const Messages& messages, const EventText& event_text,
                                       const MessageStory& story, EventTextCache& cache);

// The title without a newline: "0>1 #2: 300000 x MPI_CHAR, tag 8 from 0 in MPI_COMM_WORLD".
[[nodiscard]] std::string title(const Trace& trace, const EventText& event_text, const MessageStory& story);

}  // namespace margay::command
