// A selection of a trace's events: by rank, kind, time and message, with limits at either end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/trace/read/reader.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// The identity of a message: its ordered pair of ranks and its number in that pair, from 1.
struct MessageIdentity {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint64_t sequence = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 inside the generated comparison for a pointer.
  friend auto operator<=>(const MessageIdentity&, const MessageIdentity&) = default;
};
[[nodiscard]] inline MessageIdentity identity(const sim::TraceEvent& event) {
  return {event.source, event.destination, event.sequence};
}
// Parses "0:1:17" (source, destination, sequence from 1), or the form in stories and pages: "0>1 #17", also without the
// space. Error: anything else; the message shows the forms.
[[nodiscard]] portals::Status parse_message(std::string_view text, MessageIdentity& message);

// Conditions that must all hold; an empty one accepts everything.
struct TraceFilter {
  // The ranks that recorded the event.
  std::vector<std::uint32_t> ranks;
  // kinds: kinds to accept. not_kinds: kinds to reject.
  std::vector<sim::TraceKind> kinds;
  std::vector<sim::TraceKind> not_kinds;
  std::vector<std::uint8_t> portals;
  // From this time on, in nanoseconds as in Trace::Entry.
  std::optional<std::uint64_t> from_ns;
  // Until this time, inclusive.
  std::optional<std::uint64_t> to_ns;
  std::optional<MessageIdentity> message;
  // A further condition on entries that pass all others; empty: none.
  std::function<bool(std::size_t entry)> keep;
  // The number of events to keep, from the first on; 0: no limit.
  std::uint64_t head = 0;
  // The number of events to keep, the last ones of those that `head` leaves; 0: no limit.
  std::uint64_t tail = 0;
};

// Error: one of `ranks` has no file in the trace; the message lists those that have one.
[[nodiscard]] portals::Status check_ranks(const Trace& trace, const std::vector<std::uint32_t>& ranks);

// Returns indices in trace.entries, ascending. A message includes its answers (the acknowledgments and replies that
// name it) and the send_begin that led to its kernel_send. That send_begin has no sequence, because it was recorded
// before the sequence was assigned.
[[nodiscard]] std::vector<std::size_t> pick(const Trace& trace, const TraceFilter& filter);

}  // namespace margay::command
