// The common intermediate form of all formats: calls and waits as spans of time, messages as hops between ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "command/trace/names/names.hpp"
#include "command/trace/read/reader.hpp"
#include "command/trace/story/event_text.hpp"
#include "command/trace/story/messages.hpp"

namespace margay::command {

// The input of all formats. All references must outlive it.
struct ExportSource {
  const Trace& trace;
  const TraceNames& names;
  const Messages& messages;
  const EventText& event_text;
};

// A call or a wait of one thread. begin and end are indices in trace.entries.
struct TimeSpan {
  std::uint32_t file = 0;
  std::uint64_t thread = 0;
  // mpi_enter, or wait_begin.
  std::size_t begin = 0;
  // mpi_leave, or wait_end; if there is none, the rank's last event.
  std::size_t end = 0;
  // False: the trace has no end event.
  bool ended = false;
  // Nesting depth of a call; 0: the program itself made it.
  unsigned depth = 0;
};

// One header in flight: a put, a get, a reply, an acknowledgment.
struct Hop {
  MessageIdentity identity;
  // The message to which the hop belongs.
  MessageIdentity root;
  // The entries at which the sender's wire took the header, and at which the target saw it; kNone: not in the trace.
  std::size_t sent = MessageStory::kNone;
  std::size_t arrived = MessageStory::kNone;
};

// A trace as spans and hops.
struct Timeline {
  // In the order of their beginnings.
  std::vector<TimeSpan> calls;
  std::vector<TimeSpan> waits;
  // In the order of their first events.
  std::vector<Hop> hops;
  // Events of communication libraries, as entries.
  std::vector<std::size_t> library_events;
};
// Makes a pass over the trace for each member.
[[nodiscard]] Timeline timeline_of(const Trace& trace, const Messages& messages);

// The thread in whose call the rank recorded entry `at`; the first thread if there is no call around it.
[[nodiscard]] std::uint64_t thread_of(const ExportSource& source, std::size_t at);
// The event with the hop's header. Requires: the trace has the hop's sending or its arrival.
[[nodiscard]] const Trace::Entry& about(const Trace& trace, const Hop& hop);
// The header's kind: "put", "get", "reply", "acknowledgment".
[[nodiscard]] std::string_view kind_text(const sim::TraceEvent& event);

// One message as a row of a table.
struct MessageRow {
  const MessageStory* story = nullptr;
  // "": none.
  std::string_view protocol;
  std::string_view fate;
  std::uint64_t bytes = 0;
  // "tag 7 from 0 in MPI_COMM_WORLD".
  std::string what;
  // Of MPI, or a library's field of this name. "": none.
  std::string tag;
  // "portal 0 (receives)".
  std::string portal;
  // The fields that a communication library has in its match bits.
  std::vector<BitField> fields;
  // "shm"; "": not known.
  std::string wire;
};
// Requires: the story has steps.
[[nodiscard]] MessageRow row_of(const ExportSource& source, const MessageStory& story);

// The call site of an mpi_enter, "heat.c:41"; "" if it is not known.
[[nodiscard]] std::string site_text(const ExportSource& source, const Trace::Entry& enter);
// Microseconds with three decimals: "12.345".
[[nodiscard]] std::string microseconds_text(std::uint64_t ns);
// Nanoseconds from the trace's first event to entry `at`.
[[nodiscard]] std::uint64_t since_start(const Trace& trace, std::size_t at);
[[nodiscard]] std::string identity_text(const MessageIdentity& message);

// Charts: each rank's actions on a few messages, and arrows between the ranks. Mermaid and Mscgen draw them.

// An arrow or a note.
struct ChartStep {
  // False: a note on the line of `from`.
  bool is_arrow = false;
  // An arrow whose arrival is not in the trace.
  bool is_lost = false;
  // An acknowledgment, a reply or a synchronous answer: drawn with a broken line.
  bool is_answer = false;
  // Ranks.
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  // Since the trace's first event.
  std::string time_us;
  std::string text;
};
struct Chart {
  // Ranks with a line, ascending.
  std::vector<std::uint32_t> ranks;
  // By time; an arrow has the position of its sending.
  std::vector<ChartStep> steps;
  std::size_t arrows = 0;
};

// A larger chart is unreadable.
inline constexpr std::size_t kChartArrowsMost = 300;

// Draws the messages of these stories. The number of arrows is not bounded: the caller compares it with the limit.
// Cost: timeline_of(), for the hops.
[[nodiscard]] Chart chart_of(const ExportSource& source, const std::vector<MessageStory>& stories);

}  // namespace margay::command
