#include "command/trace/message_choice.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "command/line/line_mistakes.hpp"
#include "command/trace/common.hpp"
#include "sim/base/text.hpp"
#include "sim/boot/board.hpp"

namespace margay::command {

namespace {

// Whether the message meets all options except --never-received.
bool is_wanted(const MessageChoice& options, const Trace& trace, const TraceNames& names, const MessageStory& story) {
  if (story.steps.empty()) return false;
  if (options.from && story.identity.source != *options.from) return false;
  if (options.to && story.identity.destination != *options.to) return false;
  const Trace::Entry& entry = about(trace, story);
  const std::uint8_t portal = entry.event.portal;
  // The library's own messages would hide the program's.
  if (!options.all && names.belongs_to_library(entry.file, portal, entry.event)) return false;
  const bool is_collective = portal != portals::kNoPortal && names.is_collective_data(entry.file, portal);
  if (options.collective && !is_collective) return false;
  const bool is_internal = portal != portals::kNoPortal && names.is_internal(entry.file, portal);
  if (!options.all && !options.collective && is_internal) return false;
  if (options.tag) {
    const bool envelope = names.is_envelope(entry.file, portal) || entry.event.kind == sim::TraceKind::send_begin;
    if (envelope ? names.program_tag(entry.file, entry.event.match_bits, entry.event.time) != options.tag
                 : names.library_message(entry.file, portal, entry.event.match_bits).field("tag") !=
                       std::to_string(*options.tag))
      return false;
  }
  if (options.dropped && story.dropped == MessageStory::kNone) return false;
  if (options.unexpected && !story.unexpected) return false;
  return true;
}

// By receiving rank: number of messages for which the trace does not show whether they were received.
using NotKnown = std::map<std::uint32_t, std::size_t>;

// The user must not take an incomplete list for a complete one.
void report_not_known(const NotKnown& not_known, const Trace& trace) {
  for (const auto& [rank, count] : not_known) {
    const bool is_there = std::any_of(trace.files.begin(), trace.files.end(),
                                      [rank = rank](const TraceFile& file) { return file.rank == rank; });
    fmt::print(stderr, "margay trace: --never-received: not known whether rank {} received {}: {}\n", rank,
               sim::counted(count, "message"),
               is_there ? "its file lost events (--trace-events N of margay run keeps more)"
                        : "its file is not in the folder");
  }
}

// Whether the collective call used the node's shared memory, so that it has no messages.
bool met_in_memory(const Trace& trace, const CollectivePart& part) {
  if (part.begin == CollectivePart::kNone) return false;
  const CollectiveShape shape = collective_shape(trace.entries[part.begin].event);
  return shape.operation && shape.algorithm == collectives::Algorithm::shared;
}

}  // namespace

// A rank without a file is allowed: its messages may be recorded by the other side.
void check_choice(const MessageChoice& options, const Trace& trace) {
  const std::uint32_t size = trace.files.empty() ? 0 : trace.files.front().size;
  for (const auto& [name, rank] : {std::pair("--from", options.from), std::pair("--to", options.to)}) {
    if (!rank || *rank < size) continue;
    fail_trace(
        portals::Status::error(fmt::format("trace: {} {}: this run has {}{}", name, *rank, sim::counted(size, "rank"),
                                           size == 1 ? ", 0" : fmt::format(", 0 to {}", size - 1))));
  }
}

std::vector<MessageStory> choose(const MessageChoice& options, const Trace& trace, const TraceNames& names,
                                 const Messages& messages) {
  std::vector<MessageStory> chosen;
  NotKnown not_known;
  for (const MessageIdentity& root : messages.roots()) {
    MessageStory story = messages.story(root);
    if (!is_wanted(options, trace, names, story)) continue;
    const Unreceived is = options.never_received ? unreceived(messages, story) : Unreceived::yes;
    if (is == Unreceived::not_known) ++not_known[root.destination];
    if (is == Unreceived::yes) chosen.push_back(std::move(story));
  }
  report_not_known(not_known, trace);
  // A stable sort keeps the order of the trace among messages that took equally long.
  if (options.slowest) {
    std::stable_sort(chosen.begin(), chosen.end(), [&](const MessageStory& one, const MessageStory& other) {
      return duration_ns(trace, one) > duration_ns(trace, other);
    });
  }
  return chosen;
}

// Tries the options that widen the selection, in the order of their width.
std::string none_chosen(const MessageChoice& choice, const Trace& trace, const TraceNames& names,
                        const Messages& messages, const Collectives& collectives) {
  std::string sentence =
      fmt::format("the choice matches none of this run's {}", sim::counted(messages.roots().size(), "message"));
  if (messages.roots().empty()) sentence = "this run has no messages";
  std::string separator = ": ";
  const auto add = [&](const std::string& text) { sentence += std::exchange(separator, "; ") + text; };
  using Wider = std::pair<std::string_view, bool MessageChoice::*>;
  for (const auto& [option, wider] :
       {Wider("--collective", &MessageChoice::collective), Wider("--all", &MessageChoice::all)}) {
    if (choice.all || choice.*wider) continue;
    MessageChoice more = choice;
    more.*wider = true;
    // Each wider option is tried, so that the hint is true.
    const std::size_t count = choose(more, trace, names, messages).size();
    if (count == 0) continue;
    add(fmt::format("{} shows {}, {}", option, count, more.all ? "the library's own too" : "of collective calls"));
  }
  const std::vector<CollectivePart>& parts = collectives.parts();
  const bool needs_collectives = choice.collective || choice.all;
  if (needs_collectives &&
      std::any_of(parts.begin(), parts.end(), [&](const auto& part) { return met_in_memory(trace, part); })) {
    add("collective calls through shared memory have no messages");
  }
  const auto is_lost = [](const TraceFile& file) { return file.lost != 0; };
  if (std::any_of(trace.files.begin(), trace.files.end(), is_lost)) {
    add("ranks lost events (`margay trace check` reports how many): messages without any event left are unknown");
  }
  if (separator == ": " && !messages.roots().empty()) add("leave an option out");
  return sentence;
}

// Returns the options, so that the caller can make them exclude an option of its own.
std::vector<CLI::Option*> add_message_choice(CLI::App& command, MessageChoice& choice) {
  // MPI_TAG_UB may be lower, but a tag above it simply matches no message.
  constexpr std::uint32_t kTagMax = std::numeric_limits<std::int32_t>::max();
  return {
      command.add_option("--from", choice.from, "only messages from this rank of the world")
          ->check(whole_number(0, sim::kRanksMax - 1)),
      command.add_option("--to", choice.to, "only messages to this rank of the world")
          ->check(whole_number(0, sim::kRanksMax - 1)),
      command
          .add_option("--tag", choice.tag,
                      "only messages with this tag; partitions have the tag of the call that made them")
          ->check(whole_number(0, kTagMax)),
      command.add_flag("--slowest", choice.slowest, "the longest duration first, from begin to last step"),
      command.add_flag("--dropped", choice.dropped, "only dropped messages"),
      command.add_flag("--unexpected", choice.unexpected, "only messages that arrived before their receive was posted"),
      command.add_flag("--never-received", choice.never_received, "only messages that no receive took"),
      command.add_flag("--collective", choice.collective,
                       "only messages of collective calls, which are left out by default"),
      command.add_flag("--all", choice.all, "also the library's own messages"),
      command.add_option("--count", choice.count, "at most this many messages")->check(whole_number(1)),
  };
}

}  // namespace margay::command
