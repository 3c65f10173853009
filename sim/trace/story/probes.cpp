#include "sim/trace/story/probes.hpp"

#include <fmt/format.h>

namespace margay::sim {

namespace {

// "Taken by MPI_Mprobe (pipe.c:12)".
std::string probe_words(const Trace& trace, const Messages& messages, const EventWords& words, std::size_t step) {
  const auto& [event, file] = trace.entries[step];
  const auto probe = static_cast<TraceProbe>(event.reason);
  const std::size_t enter = messages.call_around(step);
  // With several threads it may be another one's call.
  const bool is_its_call = enter != MessageStory::kNone && !messages.has_threads(file);
  return fmt::format("{} by {}", takes_out(probe) ? "Taken" : "Found",
                     is_its_call ? words.call(trace.entries[enter]) : std::string(name(probe)));
}

}  // namespace

std::vector<std::string> probes_told(const Trace& trace, const Messages& messages, const EventWords& words,
                                     const MessageStory& story) {
  std::vector<std::string> sentences;
  if (story.found.empty()) return sentences;
  const auto time = [&](std::size_t at) { return trace.entries[at].event.time; };
  const auto add = [&](std::size_t step) {
    const bool is_dated = story.arrived != MessageStory::kNone && time(step) >= time(story.arrived);
    const std::uint32_t vain = trace.entries[step].event.a;
    sentences.push_back(fmt::format(
        "{}{}{}.", probe_words(trace, messages, words, step),
        is_dated ? fmt::format(", {} after it had arrived", duration_text(time(step) - time(story.arrived))) : "",
        vain == 0 ? "" : fmt::format("; {} of the rank's polls before that found nothing", vain)));
  };
  add(story.found.front());
  if (story.found.size() > 2) sentences.push_back(fmt::format("Probes found it {} times.", story.found.size()));
  if (story.found.size() > 1) add(story.found.back());
  return sentences;
}

bool is_probe_left_out(const Trace& trace, const MessageStory& story, std::size_t step) {
  return trace.entries[step].event.kind == TraceKind::found && step != story.found.front() &&
         step != story.found.back();
}

}  // namespace margay::sim
