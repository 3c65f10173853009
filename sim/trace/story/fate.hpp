// What became of a message, in short.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/trace/story/messages.hpp"

namespace margay::sim {

// The event that tells a message's portal and bits. Requires: it has steps.
[[nodiscard]] const Trace::Entry& about(const Trace& trace, const MessageStory& story);
// How it was taken: "expected", "unexpected, pulled", "dropped", "never received", "not known"...
[[nodiscard]] std::string_view fate(const Messages& messages, const MessageStory& story);
// From its sending to its last step. Requires: it has steps.
[[nodiscard]] std::uint64_t duration_ns(const Trace& trace, const MessageStory& story);

}  // namespace margay::sim
