// The receive that a message was lost to: it had searched the heap when the message came, and was not in the list yet.
// "This operation must be atomic to insure that the kernel doesn't deposit a message in the dynamic heap between the
// time the heap is searched and the entry is activated" (paper 001, section 2).
#pragma once

#include "command/trace/story/messages.hpp"

namespace margay::command {

struct MissedReceive {
  std::size_t posted = MessageStory::kNone;    // its post_receive; kNone: the message was lost to none
  std::size_t searched = MessageStory::kNone;  // its search_miss
};

// Looks back from the message's kernel_match to the beginning of the call that it came in, some thousand events at
// most.
[[nodiscard]] MissedReceive missed_receive(const Trace& trace, const Messages& messages, const MessageStory& story);

}  // namespace margay::command
