// What became of a message, in a word or two, and what its story begins with.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/trace/story/messages.hpp"

namespace margay::sim {

// "expected", "unexpected", "pulled", "unexpected, pulled", "dropped", "cancelled", "never received", "not arrived" or
// "not known". "never" and "not arrived" only where the receiver's whole recording is there.
[[nodiscard]] std::string_view fate(const Messages& messages, const MessageStory& story);
// The event that tells a message's portal and bits. Requires: it has steps.
[[nodiscard]] const Trace::Entry& about(const Trace& trace, const MessageStory& story);
// The event that tells its amount and type: the send_begin, or else what about() gives. Requires: it has steps.
[[nodiscard]] const Trace::Entry& best_told(const Trace& trace, const MessageStory& story);
// From its sending to its last step. Requires: it has steps.
[[nodiscard]] std::uint64_t duration_ns(const Trace& trace, const MessageStory& story);

}  // namespace margay::sim
