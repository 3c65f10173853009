#include "sim/cli/message_choice.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace margay::sim {

namespace {

bool is_wanted(const MessageChoice& options, const Trace& trace, const TraceNames& names, const Messages& messages,
               const MessageStory& story) {
  if (story.steps.empty()) return false;
  if (options.from && story.identity.source != *options.from) return false;
  if (options.to && story.identity.destination != *options.to) return false;
  const Trace::Entry& entry = about(trace, story);
  const std::uint8_t portal = entry.event.portal;
  if (!options.all && names.is_answer(entry.file, portal, entry.event.match_bits)) return false;
  const bool is_collective = portal != portals::kNoPortal && names.is_collective_data(entry.file, portal);
  if (options.collective && !is_collective) return false;
  const bool is_internal = portal != portals::kNoPortal && names.is_internal(entry.file, portal);
  if (!options.all && !options.collective && is_internal) return false;
  if (options.tag) {
    const bool envelope = names.is_envelope(entry.file, portal) || entry.event.kind == TraceKind::send_begin;
    if (!envelope || split_envelope(entry.event.match_bits).tag != *options.tag) return false;
  }
  if (options.dropped && story.dropped == MessageStory::kNone) return false;
  if (options.unexpected && !story.unexpected) return false;
  if (options.never_received) {
    const bool lies_there = story.unexpected && story.searched == MessageStory::kNone &&
                            story.received == MessageStory::kNone && !story.cancelled;
    const bool on_its_way = story.begin != MessageStory::kNone && story.arrived == MessageStory::kNone &&
                            story.dropped == MessageStory::kNone;
    if (!messages.is_whole(story.identity.destination) || (!lies_there && !on_its_way)) return false;
  }
  return true;
}

// Whether the ranks of a collective call met in their node's memory: it has no messages.
bool met_in_memory(const Trace& trace, const CollectivePart& part) {
  if (part.begin == CollectivePart::kNone) return false;
  const CollectiveShape shape = collective_shape(trace.entries[part.begin].event);
  return shape.operation != TraceOperation::none && shape.algorithm == TraceAlgorithm::shared;
}

}  // namespace

std::vector<MessageStory> choose(const MessageChoice& options, const Trace& trace, const TraceNames& names,
                                 const Messages& messages) {
  std::vector<MessageStory> chosen;
  for (const MessageIdentity& root : messages.roots()) {
    MessageStory story = messages.story(root);
    if (is_wanted(options, trace, names, messages, story)) chosen.push_back(std::move(story));
  }
  if (options.slowest) {
    std::stable_sort(chosen.begin(), chosen.end(), [&](const MessageStory& one, const MessageStory& other) {
      return duration_ns(trace, one) > duration_ns(trace, other);
    });
  }
  return chosen;
}

std::string none_chosen(const MessageChoice& choice, const Trace& trace, const TraceNames& names,
                        const Messages& messages, const Collectives& collectives) {
  std::string sentence = choice.all ? "no message is of that kind" : "no message of the program is of that kind";
  std::string separator = ": ";
  const auto add = [&](const std::string& text) { sentence += std::exchange(separator, "; ") + text; };
  using Wider = std::pair<std::string_view, bool MessageChoice::*>;
  for (const auto& [option, wider] :
       {Wider("--collective", &MessageChoice::collective), Wider("--all", &MessageChoice::all)}) {
    if (choice.all || choice.*wider) continue;
    MessageChoice more = choice;
    more.*wider = true;
    const std::size_t count = choose(more, trace, names, messages).size();
    if (count == 0) continue;
    add(fmt::format("{} shows {}, {}", option, count, more.all ? "the library's own too" : "of collective calls"));
  }
  const std::vector<CollectivePart>& parts = collectives.parts();
  if (std::any_of(parts.begin(), parts.end(), [&](const auto& part) { return met_in_memory(trace, part); })) {
    add("collective calls that met in the node's memory have no messages");
  }
  return sentence;
}

void add_message_choice(CLI::App& command, MessageChoice& choice) {
  command.add_option("--from", choice.from, "sent by this rank of the world");
  command.add_option("--to", choice.to, "sent to this rank of the world");
  command.add_option("--tag", choice.tag, "with this tag");
  command.add_flag("--slowest", choice.slowest, "those that took the longest first");
  command.add_flag("--dropped", choice.dropped, "that were dropped");
  command.add_flag("--unexpected", choice.unexpected, "that came before a receive was posted");
  command.add_flag("--never-received", choice.never_received, "that nothing received");
  command.add_flag("--collective", choice.collective, "of collective calls, which are left out otherwise");
  command.add_flag("--all", choice.all, "the library's own messages too");
}

}  // namespace margay::sim
