#include "command/trace/story/fate.hpp"

#include <algorithm>

namespace margay::command {

namespace {
constexpr std::size_t kNotThere = MessageStory::kNone;
}

namespace {

std::string_view taken_by(Taker taker) {
  switch (taker) {
    case Taker::window:
      return "window";
    case Taker::entry:
      return "matched";
    case Taker::heap:
      return "heap";
    default:
      return "expected";
  }
}

}  // namespace

// kernel_send has portal and bits in full; the later events are fallbacks for a sender whose recording is lost.
const Trace::Entry& about(const Trace& trace, const MessageStory& story) {
  for (const std::size_t step : {story.sent, story.arrived, story.begin, story.dropped}) {
    if (step != MessageStory::kNone) return trace.entries[step];
  }
  return trace.entries[story.steps.front()];
}

const Trace::Entry& best_described(const Trace& trace, const MessageStory& story) {
  const bool is_chosen =
      story.begin != MessageStory::kNone && trace.entries[story.begin].event.kind == sim::TraceKind::send_begin;
  return is_chosen ? trace.entries[story.begin] : about(trace, story);
}

// The order of the tests matters: a message that left the heap or was dropped has a match or an arrival as well.
std::string_view fate(const Messages& messages, const MessageStory& story) {
  if (story.taken_back || story.cancelled) return "cancelled";
  if (story.given_back != MessageStory::kNone) return "never received";
  if (story.dropped != MessageStory::kNone) return "dropped";
  // Whether an event of the receiver after `at` would be in the trace.
  const auto is_known_after = [&](std::size_t at) {
    return at != kNotThere && messages.is_whole_after(story.identity.destination, at);
  };
  if (story.pulled != kNotThere) {
    // receive_complete implies the end of the pull, which may have been overwritten in the ring.
    const bool ended = story.pull_ended != kNotThere || story.received != kNotThere;
    if (!ended && is_known_after(story.pulled)) return "broken off";
    return story.unexpected ? "unexpected, pulled" : "pulled";
  }
  if (story.unexpected && story.searched != kNotThere) return "unexpected";
  if (story.unexpected) return is_known_after(story.matched) ? "never received" : "unexpected";
  if (story.matched != kNotThere) {
    // A get has no body, so its match ends it.
    const bool ended = story.is_get || story.kept != kNotThere || story.received != kNotThere;
    return !ended && is_known_after(story.matched) ? "broken off" : taken_by(story.taker);
  }
  if (story.arrived != kNotThere) {
    return story.held != kNotThere && is_known_after(story.held) ? "held" : "not known";
  }
  return is_known_after(story.sent != kNotThere ? story.sent : story.begin) ? "not arrived" : "not known";
}

// Derived from the outcome, so that both never contradict each other.
Unreceived unreceived(const Messages& messages, const MessageStory& story) {
  if (story.received != kNotThere) return Unreceived::no;
  const std::string_view what = fate(messages, story);
  if (what == "never received" || what == "not arrived" || what == "held" || what == "broken off") {
    return Unreceived::yes;
  }
  // No receive found it yet, and the recording does not show whether one did later.
  const bool ends_in_heap = what == "unexpected" && story.searched == kNotThere;
  return what == "not known" || ends_in_heap ? Unreceived::not_known : Unreceived::no;
}

std::size_t first_step(const MessageStory& story) {
  return story.begin != kNotThere ? story.begin : story.steps.front();
}

std::size_t last_step(const Trace& trace, const MessageStory& story) {
  // heap_left and events of libraries do not count, because a message may stay in a heap for any time.
  const auto last = std::find_if(story.steps.rbegin(), story.steps.rend(), [&](std::size_t at) {
    const sim::TraceKind kind = trace.entries[at].event.kind;
    return kind != sim::TraceKind::heap_left && kind != sim::TraceKind::library_event;
  });
  return last == story.steps.rend() ? story.steps.back() : *last;
}

std::size_t received_step(const Trace& trace, const MessageStory& story) {
  if (story.received != MessageStory::kNone) return story.received;
  // The deposit of an unexpected message is in the heap.
  if (story.unexpected) return MessageStory::kNone;
  const auto deposit = std::find_if(story.steps.begin(), story.steps.end(), [&](std::size_t at) {
    const sim::TraceEvent& event = trace.entries[at].event;
    return event.kind == sim::TraceKind::kernel_deposit && identity(event) == story.identity;
  });
  return deposit == story.steps.end() ? MessageStory::kNone : *deposit;
}

std::uint64_t duration_ns(const Trace& trace, const MessageStory& story) {
  const std::uint64_t begin =
      trace.entries[first_step(story)].event.time;  // not steps.front(), which may be a receive posted long before
  const std::uint64_t end = trace.entries[last_step(trace, story)].event.time;
  return end > begin ? end - begin : 0;
}

}  // namespace margay::command
