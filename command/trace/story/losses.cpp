#include "command/trace/story/fate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "command/trace/names/end_words.hpp"

namespace margay::command {

namespace {

bool has_lost(const Trace& trace, std::uint32_t rank, std::uint32_t peer) {
  return std::any_of(trace.entries.begin(), trace.entries.end(), [&](const Trace::Entry& entry) {
    return entry.event.kind == sim::TraceKind::peer_lost && entry.event.source == peer &&
           trace.files[entry.file].rank == rank;
  });
}

// "was killed by signal 9 (SIGKILL)"; "": it ended well, or there is no file of it, or it may run yet and `ended` says
// not otherwise.
std::string end_of(const Trace& trace, std::uint32_t rank, bool ended) {
  for (const TraceFile& file : trace.files) {
    if (file.rank != rank) continue;
    const std::string words = end_words(file);
    return words.empty() && !file.closed && ended ? "was killed, or still runs" : words;
  }
  return "";
}

}  // namespace

std::vector<std::string> losses_told(const Trace& trace, const Messages& messages, const MessageStory& story) {
  const bool failed = story.completed != MessageStory::kNone && trace.entries[story.completed].event.b != 0;
  if (!failed && unreceived(messages, story) == Unreceived::no) return {};
  std::vector<std::string> told;
  const std::uint32_t source = story.identity.source, destination = story.identity.destination;
  for (const auto& [rank, peer] : {std::pair(source, destination), std::pair(destination, source)}) {
    const std::string end = end_of(trace, peer, failed || fate(messages, story) == "broken off");
    if (has_lost(trace, rank, peer)) {
      told.push_back(fmt::format("Rank {} lost rank {}{}.", rank, peer, end.empty() ? "" : ", which " + end));
    } else if (!end.empty()) {
      told.push_back(fmt::format("Rank {} {}.", peer, end));
    }
  }
  return told;
}

}  // namespace margay::command
