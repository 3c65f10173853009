#include "sim/trace/story/fate.hpp"

namespace margay::sim {

const Trace::Entry& about(const Trace& trace, const MessageStory& story) {
  for (const std::size_t step : {story.sent, story.arrived, story.begin, story.dropped}) {
    if (step != MessageStory::kNone) return trace.entries[step];
  }
  return trace.entries[story.steps.front()];
}

std::string_view fate(const Messages& messages, const MessageStory& story) {
  if (story.taken_back || story.cancelled) return "cancelled";
  if (story.given_back != MessageStory::kNone) return "never received";
  if (story.dropped != MessageStory::kNone) return "dropped";
  if (story.pulled != MessageStory::kNone) return story.unexpected ? "unexpected, pulled" : "pulled";
  const bool whole = messages.is_whole(story.identity.destination);
  if (story.unexpected && story.searched != MessageStory::kNone) return "unexpected";
  if (story.unexpected) return whole ? "never received" : "unexpected";
  if (story.matched != MessageStory::kNone) return "expected";
  return whole && story.arrived == MessageStory::kNone ? "not arrived" : "not known";
}

std::uint64_t duration_ns(const Trace& trace, const MessageStory& story) {
  // A receive may have been posted long before.
  const std::size_t first = story.begin != MessageStory::kNone ? story.begin : story.steps.front();
  const std::uint64_t begin = trace.entries[first].event.time;
  const std::uint64_t end = trace.entries[story.steps.back()].event.time;
  return end > begin ? end - begin : 0;
}

}  // namespace margay::sim
