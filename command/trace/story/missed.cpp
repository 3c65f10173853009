#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "command/trace/names/names.hpp"
#include "command/trace/story/fate.hpp"

namespace margay::command {

namespace {

// Bounds the cost for a call with a long wait: a search and its post are close to the match.
constexpr std::size_t kMostLookedAt = 4096;

// Whether the entry of `post` accepts these match bits: all bits are equal, except those that the entry ignores.
bool wants(const sim::TraceEvent& post, portals::MatchBits message) {
  return ((post.match_bits ^ message) & ~post.detail) == 0;
}

}  // namespace

// Looks backwards for the latest receive that was posted before the match. If that receive does not accept the message,
// or has taken another one, the message missed no receive.
MissedReceive missed_receive(const Trace& trace, const Messages& messages, const MessageStory& story) {
  if (!story.unexpected || story.matched == MessageStory::kNone || story.arrived == MessageStory::kNone) return {};
  const std::uint32_t file = trace.entries[story.matched].file;
  const std::size_t call = messages.call_around(story.matched);
  // The rank is in the call of the receive during both steps. With several threads that call is not known.
  if (call == MessageStory::kNone || messages.has_threads(file)) return {};
  const portals::MatchBits bits = trace.entries[story.arrived].event.match_bits;
  const std::size_t first = story.matched > kMostLookedAt ? std::max(call, story.matched - kMostLookedAt) : call;
  MissedReceive missed;
  // Match bits of messages that posted receives took after the event at `at`. The candidate may have taken one of these
  // messages instead.
  std::vector<portals::MatchBits> taken;
  for (std::size_t at = story.matched; at-- > first;) {
    if (trace.entries[at].file != file) continue;
    const sim::TraceEvent& event = trace.entries[at].event;
    if (event.kind == sim::TraceKind::kernel_match && event.b == mpi_adi::kOwnerReceive)
      taken.push_back(event.match_bits);
    // The latest search that found nothing. Its post was recorded before it, so this loop, which runs backwards, meets
    // the post next.
    if (event.kind == sim::TraceKind::search_miss && missed.searched == MessageStory::kNone) missed.searched = at;
    if (event.kind != sim::TraceKind::post_receive) continue;
    // The latest post decides. An earlier receive of the same call was complete before the latest one began, so the
    // message cannot have missed it.
    const bool is_its = missed.searched != MessageStory::kNone && trace.entries[missed.searched].event.a == event.a;
    const bool is_over = std::ranges::any_of(taken, [&](portals::MatchBits other) { return wants(event, other); });
    if (!is_its || is_over || !wants(event, bits)) return {};
    missed.posted = at;
    return missed;
  }
  return {};
}

// A rank may have several reasons for a gap; the first that applies, from absent to overwritten, is reported.
std::vector<std::string> gap_sentences(const Trace& trace, const MessageStory& story) {
  std::vector<std::string> sentences;
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
      sentences.push_back(fmt::format("What rank {} did is not known: its file is not in this folder.", rank));
    } else if (!has && rank == story.identity.source && !lost(rank) && is_open(rank)) {
      sentences.push_back(fmt::format(
          "Rank {} {} it had recorded that it sent it.", rank,
          is_sealed(rank) ? "ended, or was killed, before" : "runs, or was killed, and its file was read before"));
    } else if (!has && lost(rank)) {
      sentences.push_back(fmt::format(
          "The beginning at rank {} was overwritten or left out: record more (--trace-events, --trace-last).", rank));
    }
  }
  return sentences;
}

}  // namespace margay::command
