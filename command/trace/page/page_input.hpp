// The input of the page's tables.
#pragma once

#include "command/trace/page/page_data.hpp"
#include "command/trace/story/collectives.hpp"
#include "command/trace/story/event_text.hpp"
#include "command/trace/story/messages.hpp"

namespace margay::command {

// An entry that is not in the trace.
inline constexpr std::size_t kNoEntry = MessageStory::kNone;

// References to a trace and its indices; all must outlive it. Immutable, so threads may share it.
struct PageInput {
  const Trace& trace;
  const TraceNames& names;
  const Messages& messages;
  const Collectives& collectives;
  const EventText& event_text;
  // May be empty; must be safe for several threads.
  CallSite call_site;
  // The difference from another run as JSON (docs/trace_diff.md); "": the page compares none.
  std::string difference = {};

  // entry() and rank_of() require that `at` is not kNoEntry.
  [[nodiscard]] const Trace::Entry& entry(std::size_t at) const { return trace.entries[at]; }
  [[nodiscard]] std::uint32_t rank_of(std::size_t at) const { return trace.files[entry(at).file].rank; }
  // Nanoseconds since the first event; kNoTime if `at` is MessageStory::kNone.
  [[nodiscard]] double time(std::size_t at) const {
    if (at == MessageStory::kNone) return kNoTime;
    return static_cast<double>(entry(at).event.time - trace.entries.front().event.time);
  }
};

}  // namespace margay::command
