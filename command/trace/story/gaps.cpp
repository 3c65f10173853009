#include "command/trace/story/gaps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace margay::command {

std::vector<std::string> gaps_told(const Trace& trace, const MessageStory& story) {
  std::vector<std::string> told;
  const auto lost = [&](std::uint32_t rank) {
    return std::any_of(trace.files.begin(), trace.files.end(),
                       [&](const TraceFile& file) { return file.rank == rank && file.lost != 0; });
  };
  const auto is_open = [&](std::uint32_t rank) {
    return std::any_of(trace.files.begin(), trace.files.end(),
                       [&](const TraceFile& file) { return file.rank == rank && !file.closed; });
  };
  const auto is_sealed = [&](std::uint32_t rank) {
    return std::any_of(trace.files.begin(), trace.files.end(),
                       [&](const TraceFile& file) { return file.rank == rank && file.sealed; });
  };
  const auto absent = [&](std::uint32_t rank) {
    return std::none_of(trace.files.begin(), trace.files.end(),
                        [&](const TraceFile& file) { return file.rank == rank; });
  };
  for (const auto& [rank, has] :
       {std::pair(story.identity.source, story.begin != MessageStory::kNone || story.sent != MessageStory::kNone),
        std::pair(story.identity.destination, story.arrived != MessageStory::kNone)}) {
    if (absent(rank)) {
      told.push_back(fmt::format("What rank {} did is not known: its file is not in this folder.", rank));
    } else if (!has && rank == story.identity.source && !lost(rank) && is_open(rank)) {
      told.push_back(fmt::format(
          "Rank {} {} it had recorded that it sent it.", rank,
          is_sealed(rank) ? "ended, or was killed, before" : "runs, or was killed, and its file was read before"));
    } else if (!has && lost(rank)) {
      told.push_back(fmt::format(
          "The beginning at rank {} was overwritten or left out: record more (--trace-events, --trace-last).", rank));
    }
  }
  return told;
}

}  // namespace margay::command
