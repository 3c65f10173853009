#include "command/trace/story/fate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "command/trace/names/end_words.hpp"

namespace margay::command {

namespace {

// A recorder writes peer_lost once for each lost peer, so a search for a rank's own event is enough.
bool has_lost(const Trace& trace, std::uint32_t rank, std::uint32_t peer) {
  return std::any_of(trace.entries.begin(), trace.entries.end(), [&](const Trace::Entry& entry) {
    return entry.event.kind == sim::TraceKind::peer_lost && entry.event.source == peer &&
           trace.files[entry.file].rank == rank;
  });
}

// "was killed by signal 9 (SIGKILL)". `ended`: the message did not get through, so a file that is not closed means "was
// killed, or still runs". "": the rank ended well, has no file, or may still run.
std::string end_of(const Trace& trace, std::uint32_t rank, bool ended) {
  for (const TraceFile& file : trace.files) {
    if (file.rank != rank) continue;
    const std::string text = end_text(file);
    return text.empty() && !file.closed && ended ? "was killed, or still runs" : text;
  }
  return "";
}

}  // namespace

std::vector<std::string> loss_sentences(const Trace& trace, const Messages& messages, const MessageStory& story) {
  const bool failed = story.completed != MessageStory::kNone && trace.entries[story.completed].event.b != 0;
  // A loss after a successful delivery does not concern the message.
  if (!failed && unreceived(messages, story) == Unreceived::no) return {};
  std::vector<std::string> sentences;
  const std::uint32_t source = story.identity.source, destination = story.identity.destination;
  // Each side may have noticed the loss of the other, or neither, if the recording ended first.
  for (const auto& [rank, peer] : {std::pair(source, destination), std::pair(destination, source)}) {
    const std::string end = end_of(trace, peer, failed || fate(messages, story) == "broken off");
    if (has_lost(trace, rank, peer)) {
      sentences.push_back(fmt::format("Rank {} lost rank {}{}.", rank, peer, end.empty() ? "" : ", which " + end));
    } else if (!end.empty()) {
      sentences.push_back(fmt::format("Rank {} {}.", peer, end));
    }
  }
  return sentences;
}

}  // namespace margay::command
