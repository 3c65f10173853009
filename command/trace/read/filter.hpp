// Picks events out of a trace: by rank, kind, time, message, and how many from either end.
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
// "0:1:17" (source, destination, sequence from 1), or as stories and pages write it: "0>1 #17", also without the space.
// Errors: anything else, with how it should look.
[[nodiscard]] portals::Status parse_message(std::string_view text, MessageIdentity& message);

struct TraceFilter {
  std::vector<std::uint32_t> ranks;   // empty: all; the ranks that recorded
  std::vector<sim::TraceKind> kinds;  // empty: all
  std::vector<sim::TraceKind> not_kinds;
  std::vector<std::uint8_t> portals;  // empty: all
  std::optional<std::uint64_t> from_ns;
  std::optional<std::uint64_t> to_ns;  // inclusive
  std::optional<MessageIdentity> message;
  std::function<bool(std::size_t entry)> keep;  // of those that all else picks; empty: all
  std::uint64_t head = 0;                       // the first so many of what is left; 0: no limit
  std::uint64_t tail = 0;                       // the last so many of that; 0: no limit
};

// Error: a rank that has no file in the trace; the sentence tells those that have one.
[[nodiscard]] portals::Status check_ranks(const Trace& trace, const std::vector<std::uint32_t>& ranks);

// Indices in trace.entries, in order. A message brings its answers along: acknowledgments and replies that name it, and
// the send_begin that led to its kernel_send, where that did not know the sequence yet.
[[nodiscard]] std::vector<std::size_t> pick(const Trace& trace, const TraceFilter& filter);

}  // namespace margay::command
