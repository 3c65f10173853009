#include "command/trace/story/fate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace margay::command {

namespace {

// "Taken by MPI_Mprobe (pipe.c:12)".
std::string probe_text(const Trace& trace, const Messages& messages, const EventText& event_text, std::size_t step) {
  const auto& [event, file] = trace.entries[step];
  const auto probe = static_cast<sim::TraceProbe>(event.reason);
  const std::size_t enter = messages.call_around(step);
  // With several threads the call may be another thread's, so only the probe's own name is certain.
  const bool is_its_call = enter != MessageStory::kNone && !messages.has_threads(file);
  return fmt::format("{} by {}", sim::takes_out(probe) ? "Taken" : "Found",
                     is_its_call ? event_text.call(trace.entries[enter]) : std::string(name(probe)));
}

// Nanoseconds that the rank waited between the entries `enter` (the call's beginning) and `until`. `before_sent`: the
// part before the time `sent`.
struct ProbeWait {
  std::uint64_t all = 0, before_sent = 0;
};
ProbeWait waited_until(const Trace& trace, std::size_t enter, std::size_t until, std::uint64_t sent) {
  ProbeWait waited;
  std::size_t begun = MessageStory::kNone;
  const auto note = [&](std::uint64_t end) {
    if (begun == MessageStory::kNone) return;
    const std::uint64_t begin = trace.entries[begun].event.time;
    waited.all += end - begin;
    waited.before_sent += std::max(begin, std::min(end, sent)) - begin;
    begun = MessageStory::kNone;
  };
  for (std::size_t i = enter; i < until; ++i) {
    const auto& [event, file] = trace.entries[i];
    if (file != trace.entries[enter].file) continue;
    if (event.kind == sim::TraceKind::wait_begin) begun = i;
    if (event.kind == sim::TraceKind::wait_end) note(event.time);
  }
  // The wait is still open when the probe finds its message: wait_end follows.
  note(trace.entries[until].event.time);
  return waited;
}

// "Rank 0 waited for it in this call for 25.2 ms, 25.1 ms of that before rank 1 sent it."; "": the rank did not wait.
std::string wait_sentence(const Trace& trace, const Messages& messages, const MessageStory& story, std::size_t step) {
  const auto& [event, file] = trace.entries[step];
  const std::size_t enter = messages.call_around(step);
  if (!blocks(static_cast<sim::TraceProbe>(event.reason)) || enter == MessageStory::kNone ||
      messages.has_threads(file)) {
    return "";
  }
  // Without the sending's time no part of the wait can be attributed to the sender.
  const std::uint64_t sent = story.begin == MessageStory::kNone ? 0 : trace.entries[story.begin].event.time;
  const ProbeWait waited = waited_until(trace, enter, step, sent);
  if (waited.all == 0) return "";
  return fmt::format("Rank {} waited for it in this call for {}{}.", story.identity.destination,
                     duration_text(waited.all),
                     waited.before_sent == 0 ? ""
                                             : fmt::format(", {} of that before rank {} sent it",
                                                           duration_text(waited.before_sent), story.identity.source));
}

}  // namespace

// A program may probe one message thousands of times, so only the first and last are described.
std::vector<std::string> probe_sentences(const Trace& trace, const Messages& messages, const EventText& event_text,
                                         const MessageStory& story) {
  std::vector<std::string> sentences;
  if (story.found.empty()) return sentences;
  const auto time = [&](std::size_t at) { return trace.entries[at].event.time; };
  const auto add = [&](std::size_t step) {
    // The clocks of two hosts may put the arrival after the probe.
    const bool is_dated = story.arrived != MessageStory::kNone && time(step) >= time(story.arrived);
    // The recorder counts unsuccessful polls in this event, because a loop of them would fill the ring.
    const std::uint32_t empty_polls = trace.entries[step].event.a;
    sentences.push_back(fmt::format(
        "{}{}{}.", probe_text(trace, messages, event_text, step),
        is_dated ? fmt::format(", {} after it had arrived", duration_text(time(step) - time(story.arrived))) : "",
        empty_polls == 0 ? "" : fmt::format("; {} of the rank's polls before that found nothing", empty_polls)));
    std::string waited = wait_sentence(trace, messages, story, step);
    if (!waited.empty()) sentences.push_back(std::move(waited));
  };
  add(story.found.front());
  if (story.found.size() > 2) sentences.push_back(fmt::format("Probes found it {} times.", story.found.size()));
  if (story.found.size() > 1) add(story.found.back());
  return sentences;
}

bool is_probe_left_out(const Trace& trace, const MessageStory& story, std::size_t step) {
  return trace.entries[step].event.kind == sim::TraceKind::found && step != story.found.front() &&
         step != story.found.back();
}

}  // namespace margay::command
