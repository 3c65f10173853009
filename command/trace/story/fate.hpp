// What became of a message, in a word or two, and what its story begins with.
#pragma once

#include <cstdint>
#include <string_view>

#include "command/trace/story/messages.hpp"

namespace margay::command {

// "expected" (by a receive), "matched" (by an entry or a portal, which expect nothing), "heap" (the same, and a dynamic
// block keeps it), "window", "unexpected", "pulled", "unexpected, pulled", "dropped", "cancelled", "never received",
// "not arrived", "held" (its wire keeps it to the end), "broken off" (its body did not come to its end) or "not known".
// What did not happen is said only where all that the receiver recorded since then is there.
[[nodiscard]] std::string_view fate(const Messages& messages, const MessageStory& story);
// Whether no receive has it in whole, as far as is known; `not_known`: the trace does not tell.
enum class Unreceived : std::uint8_t { no, yes, not_known };
[[nodiscard]] Unreceived unreceived(const Messages& messages, const MessageStory& story);
// What it began with: its sending, or else the first of it that is in the trace. Requires: it has steps.
[[nodiscard]] std::size_t first_step(const MessageStory& story);
// The event that tells a message's portal and bits. Requires: it has steps.
[[nodiscard]] const Trace::Entry& about(const Trace& trace, const MessageStory& story);
// The event that tells its amount and type: the send_begin, or else what about() gives. Requires: it has steps.
[[nodiscard]] const Trace::Entry& best_told(const Trace& trace, const MessageStory& story);
// The last of its way: that a program released it from a heap, some time later, is none. Requires: it has steps.
[[nodiscard]] std::size_t last_step(const Trace& trace, const MessageStory& story);
// From its sending to its last step. Requires: it has steps.
[[nodiscard]] std::uint64_t duration_ns(const Trace& trace, const MessageStory& story);

}  // namespace margay::command
