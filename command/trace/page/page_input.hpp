// What the tables of the page are made from.
#pragma once

#include "command/trace/page/page_data.hpp"
#include "command/trace/story/collectives.hpp"
#include "command/trace/story/messages.hpp"
#include "command/trace/story/words.hpp"

namespace margay::command {

inline constexpr std::size_t kNoEntry = MessageStory::kNone;

struct PageInput {
  const Trace& trace;
  const TraceNames& names;
  const Messages& messages;
  const Collectives& collectives;
  const EventWords& words;
  CallSite call_site;  // may be empty

  [[nodiscard]] const Trace::Entry& entry(std::size_t at) const { return trace.entries[at]; }
  [[nodiscard]] std::uint32_t rank_of(std::size_t at) const { return trace.files[entry(at).file].rank; }
  // Nanoseconds since the first event; of MessageStory::kNone: not known.
  [[nodiscard]] double time(std::size_t at) const {
    if (at == MessageStory::kNone) return kNoTime;
    return static_cast<double>(entry(at).event.time - trace.entries.front().event.time);
  }
};

}  // namespace margay::command
