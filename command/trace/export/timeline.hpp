// What the formats share: a trace's calls and waits as stretches of time, its messages as hops from wire to wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "command/trace/names/names.hpp"
#include "command/trace/read/reader.hpp"
#include "command/trace/story/messages.hpp"
#include "command/trace/story/words.hpp"

namespace margay::command {

// A trace as the formats get it. All outlive it.
struct ExportSource {
  const Trace& trace;
  const TraceNames& names;
  const Messages& messages;
  const EventWords& words;
};

// Of one thread of a rank. Indices are of trace.entries.
struct TimeSpan {
  std::uint32_t file = 0;
  std::uint64_t thread = 0;
  std::size_t begin = 0;  // mpi_enter, or wait_begin
  std::size_t end = 0;    // mpi_leave, or wait_end; where there is none, the last event of the rank
  bool ended = false;     // there is one
  unsigned depth = 0;     // of a call: 0 is the program's own
};

// One header on its way: a put, a get, a reply, an acknowledgment.
struct Hop {
  MessageIdentity identity;
  MessageIdentity root;  // the message that it is a part of
  std::size_t sent = MessageStory::kNone;
  std::size_t arrived = MessageStory::kNone;
};

struct Timeline {
  std::vector<TimeSpan> calls;  // by their beginnings
  std::vector<TimeSpan> waits;
  std::vector<Hop> hops;  // by their first events
};
[[nodiscard]] Timeline timeline_of(const Trace& trace, const Messages& messages);

// The event that tells a hop's header. Requires: it was sent or arrived.
[[nodiscard]] const Trace::Entry& about(const Trace& trace, const Hop& hop);
// "put", "get", "reply", "acknowledgment".
[[nodiscard]] std::string_view kind_words(const sim::TraceEvent& event);

// One message in columns.
struct MessageRow {
  const MessageStory* story = nullptr;
  std::string_view protocol;  // "" none
  std::string_view fate;
  std::uint64_t bytes = 0;
  std::string what;    // "tag 7 from 0 in MPI_COMM_WORLD"
  std::string tag;     // "" none
  std::string portal;  // "portal 0 (receives)"
  std::string wire;    // "shm"; "" not known
};
// Requires: the story has steps.
[[nodiscard]] MessageRow row_of(const ExportSource& source, const MessageStory& story);

// "heat.c:41" of an mpi_enter; "" where that is not known.
[[nodiscard]] std::string site_text(const ExportSource& source, const Trace::Entry& enter);
// "12.345": microseconds with all their nanoseconds.
[[nodiscard]] std::string microseconds_text(std::uint64_t ns);
// Nanoseconds since the trace's first event.
[[nodiscard]] std::uint64_t since_start(const Trace& trace, std::size_t at);
[[nodiscard]] std::string identity_text(const MessageIdentity& message);

// A chart of a few messages: what happens on each rank's line, and the arrows between them. Mermaid and Mscgen draw it.

struct ChartStep {
  bool is_arrow = false;   // otherwise a note on the line of `from`
  bool is_lost = false;    // an arrow: it was sent, and nothing of its arrival is in the trace
  bool is_answer = false;  // an acknowledgment, a reply, a synchronous answer: drawn with a broken line
  std::uint32_t from = 0;  // ranks
  std::uint32_t to = 0;
  std::string time_us;  // since the trace's first event
  std::string text;
};
struct Chart {
  std::vector<std::uint32_t> ranks;  // that have a line, lowest first
  std::vector<ChartStep> steps;      // by time; an arrow stands where it was sent
  std::size_t arrows = 0;
};

// A chart with more is no longer read by anybody.
inline constexpr std::size_t kChartArrowsMost = 300;

[[nodiscard]] Chart chart_of(const ExportSource& source, const std::vector<MessageStory>& stories);

}  // namespace margay::command
