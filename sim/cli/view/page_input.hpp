// What the tables of the page are made from.
#pragma once

#include "sim/cli/view/page_data.hpp"
#include "sim/trace/story/collectives.hpp"
#include "sim/trace/story/messages.hpp"
#include "sim/trace/story/words.hpp"

namespace margay::sim {

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

}  // namespace margay::sim
