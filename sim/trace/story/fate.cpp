#include "sim/trace/story/fate.hpp"

namespace margay::sim {

std::string_view fate(const Messages& messages, const MessageStory& story) {
  constexpr std::size_t kNotThere = MessageStory::kNone;
  if (story.taken_back) return "cancelled";
  if (story.dropped != kNotThere) return "dropped";
  if (story.pulled != kNotThere) return story.unexpected ? "unexpected, pulled" : "pulled";
  const bool whole = messages.is_whole(story.identity.destination);
  if (story.unexpected && story.searched != kNotThere) return "unexpected";
  if (story.unexpected) return whole ? "never received" : "unexpected";
  if (story.matched != kNotThere) return "expected";
  return whole && story.arrived == kNotThere ? "not arrived" : "not known";
}

const Trace::Entry& about(const Trace& trace, const MessageStory& story) {
  for (const std::size_t step : {story.sent, story.arrived, story.begin, story.dropped}) {
    if (step != MessageStory::kNone) return trace.entries[step];
  }
  return trace.entries[story.steps.front()];
}

std::uint64_t duration_ns(const Trace& trace, const MessageStory& story) {
  // A receive may have been posted long before.
  const std::size_t first = story.begin != MessageStory::kNone ? story.begin : story.steps.front();
  const std::uint64_t begin = trace.entries[first].event.time;
  const std::uint64_t end = trace.entries[story.steps.back()].event.time;
  return end > begin ? end - begin : 0;
}

}  // namespace margay::sim
